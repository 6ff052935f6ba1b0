//! Records as TypeScript declarations, for the test that compares them with the types of the package.

/// Returns the text of comments, a line each, of the attributes among which they stand.
#[macro_export]
macro_rules! comments {
    () => { "" };
    ([doc = $text:literal] $($rest:tt)*) => { concat!($text, "\n", $crate::comments!($($rest)*)) };
    ([$($other:tt)+] $($rest:tt)*) => { $crate::comments!($($rest)*) };
}

/// Implements `ts_rs::TS` for an enum with `ALL` and `as_str`: the union of their wire strings, with the comments among the
/// attributes of the enum and of each member.
#[macro_export]
macro_rules! wire_strings {
    ($name:ident [$($doc:tt)*] $([$($member:tt)*])*) => {
        impl ts_rs::TS for $name {
            type WithoutGenerics = Self;
            type OptionInnerType = Self;
            // As a key it makes the members of a map optional.
            const IS_ENUM: bool = true;

            fn docs() -> Option<String> {
                Some($crate::comments!($($doc)*).to_owned())
            }

            fn name(_: &ts_rs::Config) -> String {
                stringify!($name).to_owned()
            }

            fn inline(_: &ts_rs::Config) -> String {
                Self::ALL.iter().map(|value| format!("\"{}\"", value.as_str())).collect::<Vec<_>>().join(" | ")
            }

            fn decl(_: &ts_rs::Config) -> String {
                let comments: &[&str] = &[$($crate::comments!($($member)*)),*];
                let members = Self::ALL.iter().enumerate().map(|(place, value)| {
                    let comment = comments.get(place).filter(|comment| !comment.is_empty());
                    let comment = comment.map(|comment| format!("/** {comment} */ ")).unwrap_or_default();
                    format!("{comment}\"{}\"", value.as_str())
                });
                format!("type {} = {};", stringify!($name), members.collect::<Vec<_>>().join(" | "))
            }

            // Nothing is written there; types without a path count as primitive.
            fn output_path() -> Option<std::path::PathBuf> {
                Some(stringify!($name).into())
            }
        }
    };
}

use crate::ErrorCode;

wire_strings!(ErrorCode []);
