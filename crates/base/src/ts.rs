//! Records as TypeScript declarations, for the test that compares them with the types of the package.

/// Implements `ts_rs::TS` for enums with `ALL` and `as_str`: the union of their wire strings.
#[macro_export]
macro_rules! wire_strings {
    ($($name:ident)+) => { $(
        impl ts_rs::TS for $name {
            type WithoutGenerics = Self;
            type OptionInnerType = Self;
            // As a key it makes the members of a map optional.
            const IS_ENUM: bool = true;

            fn name(_: &ts_rs::Config) -> String {
                stringify!($name).to_owned()
            }

            fn inline(_: &ts_rs::Config) -> String {
                Self::ALL.iter().map(|value| format!("\"{}\"", value.as_str())).collect::<Vec<_>>().join(" | ")
            }

            fn decl(config: &ts_rs::Config) -> String {
                format!("type {} = {};", stringify!($name), <Self as ts_rs::TS>::inline(config))
            }

            // Nothing is written there; types without a path count as primitive.
            fn output_path() -> Option<std::path::PathBuf> {
                Some(stringify!($name).into())
            }
        }
    )+ };
}

use crate::ErrorCode;

wire_strings!(ErrorCode);
