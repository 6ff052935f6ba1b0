//! `#[derive(Record)]`: the reader of a record from its struct. What it is used by, with examples, is
//! `contextweaver_model::json::Record`.

mod attributes;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Result, Type, parse_macro_input, parse_quote};

use attributes::{Absent, Container, FieldAttributes};

/// Implements `contextweaver_model::json::Record` with `from_value`, and `serde::Deserialize` by it.
///
/// A field is read under its own name, in the order of the struct. Of a record, `#[record(…)]` takes:
///
/// | | |
/// |---|---|
/// | `closed` | a field that is not known is an error |
/// | `root` | `from_value` takes no path: the record is an argument by itself |
/// | `default` | fields that are absent are those of `Self::default()`, or of the record that `over` is called on |
/// | `partial` | `from_value` is written by hand |
/// | `check` | what was read is passed to `check(&self, path)` of the record, or `check(&self)` where it is a root |
///
/// And of a field:
///
/// | | |
/// |---|---|
/// | `default`, `default = value` | what an absent field is; without it, a field that is no list, object or `Option` is required |
/// | `max = bound` | the largest whole number |
/// | `range = from..=to` | the bounds of a number |
/// | `name = "text"` | the name on the wire, where it is another one |
/// | `with = function` | who reads it, of the fields, the name and, where the record has `default`, the value of the default |
/// | `required` | who reads it by `with` does not do without it |
/// | `flatten` | its fields, of a record, stand among the others; they are not listed |
/// | `skip`, `skip = value` | it is not read |
#[proc_macro_derive(Record, attributes(record))]
pub fn record(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Leaves out what is absent: fields that are an `Option` are not written as null, and are optional in TypeScript, but for
/// those with `#[nullable]`. It stands above the derives.
#[proc_macro_attribute]
pub fn sparse(_: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let mut input = parse_macro_input!(item as DeriveInput);
    let is_declared = input.attrs.iter().any(|attribute| quote!(#attribute).to_string().contains("ts_rs"));
    let fields = match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut(),
        _ => return Error::new_spanned(&input.ident, "a record is a struct").into_compile_error().into(),
    };
    for field in fields {
        let attributes = field.attrs.len();
        field.attrs.retain(|attribute| !attribute.path().is_ident("nullable"));
        if field.attrs.len() < attributes || !attributes::unwrap_option(&field.ty).1 {
            continue;
        }
        field.attrs.push(parse_quote!(#[serde(skip_serializing_if = "Option::is_none")]));
        if is_declared {
            field.attrs.push(parse_quote!(#[cfg_attr(feature = "ts", ts(optional))]));
        }
    }
    quote!(#input).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let (Data::Struct(data), name) = (&input.data, &input.ident) else {
        return Err(Error::new_spanned(&input.ident, "a record is a struct"));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "the fields of a record have names"));
    };
    let container = Container::read(&input.attrs)?;
    let mut reads = Vec::new();
    let mut known = Vec::new();
    for field in &named.named {
        let attributes = FieldAttributes::read(&field.attrs)?;
        let Some(ident) = &field.ident else { continue };
        let (read, is_required) = reader(ident, &field.ty, &attributes, &container);
        reads.push(quote!(#ident: #read));
        if let (Some(is_required), key) = (is_required, attributes.key(ident)) {
            known.push(quote!((#key, #is_required)));
        }
    }
    let read = quote!(::core::result::Result::Ok(Self { #(#reads),* }));
    let (body, over) = if container.default { over(input, &read) } else { (read, quote!()) };
    let from_value = if container.partial { quote!() } else { from_value(input, &container) };
    Ok(quote! {
        impl ::contextweaver_model::json::Record for #name {
            const FIELDS: &'static [(&'static str, bool)] = &[#(#known),*];

            fn from_fields(fields: &mut ::contextweaver_model::json::Fields) -> ::contextweaver_base::Result<Self> {
                #body
            }
        }

        #over
        #from_value
    })
}

/// Returns how a record is taken over its default, and the function that takes it over another one.
fn over(input: &DeriveInput, read: &TokenStream) -> (TokenStream, TokenStream) {
    let (name, vis) = (&input.ident, &input.vis);
    let over = quote! {
        impl #name {
            /// Takes the fields of the record; what is absent stays as it is here.
            ///
            /// # Errors
            /// `INVALID_INPUT`, `OUT_OF_RANGE` and the like, with the path of the field.
            #vis fn over(
                self,
                fields: &mut ::contextweaver_model::json::Fields,
            ) -> ::contextweaver_base::Result<Self> {
                let base = self;
                #read
            }
        }
    };
    (quote!(<Self as ::core::default::Default>::default().over(fields)), over)
}

/// Writes `from_value` and `serde::Deserialize`, and for what is part of other records the implementation of `Field`.
fn from_value(input: &DeriveInput, container: &Container) -> TokenStream {
    let (name, vis) = (&input.ident, &input.vis);
    let finish = container.closed.then(|| quote!(fields.finish()?;));
    let (unknown, code) = if container.closed {
        ("Reads the record; an unknown field is an error.", "`UNKNOWN_FIELD`, ")
    } else {
        ("Reads the record; unknown fields are ignored.", "")
    };
    let errors = format!("{code}`MISSING_FIELD`, `INVALID_INPUT` and `OUT_OF_RANGE`, with the path of the field.");
    let (parameter, path, checked, argument) = if container.root {
        (quote!(), quote!(""), quote!(), quote!())
    } else {
        (quote!(, path: &str), quote!(path), quote!(path), quote!(, ""))
    };
    let check = container.check.then(|| quote!(record.check(#checked)?;));
    let field = (!container.root).then(|| {
        quote! {
            impl ::contextweaver_model::json::Field for #name {
                fn read(value: ::serde_json::Value, path: &str) -> ::contextweaver_base::Result<Self> {
                    Self::from_value(value, path)
                }
            }
        }
    });
    quote! {
        impl #name {
            #[doc = #unknown]
            #[doc = ""]
            #[doc = "# Errors"]
            #[doc = #errors]
            #vis fn from_value(value: ::serde_json::Value #parameter) -> ::contextweaver_base::Result<Self> {
                let mut fields = ::contextweaver_model::json::Fields::open(value, #path)?;
                let record = <Self as ::contextweaver_model::json::Record>::from_fields(&mut fields)?;
                #finish
                #check
                ::core::result::Result::Ok(record)
            }
        }

        #field

        impl<'de> ::serde::Deserialize<'de> for #name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                let value = <::serde_json::Value as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::from_value(value #argument).map_err(<D::Error as ::serde::de::Error>::custom)
            }
        }
    }
}

/// Returns the expression that reads a field, and whether the field is required; none for one that is not read.
fn reader(
    ident: &Ident,
    ty: &Type,
    attributes: &FieldAttributes,
    container: &Container,
) -> (TokenStream, Option<TokenStream>) {
    let key = attributes.key(ident);
    let base = container.default.then(|| quote!(base.#ident));
    match (&attributes.skip, &base) {
        (None, _) => {}
        (Some(Absent::Value(value)), _) => return (quote!(#value), None),
        (Some(Absent::Default), Some(base)) => return (base.clone(), None),
        (Some(Absent::Default), None) => return (quote!(::core::default::Default::default()), None),
    }
    if attributes.flatten {
        let read = if let Some(base) = base {
            quote!(#base.over(fields)?)
        } else {
            quote!(<#ty as ::contextweaver_model::json::Record>::from_fields(fields)?)
        };
        return (read, None);
    }
    if let Some(with) = &attributes.with {
        let base = base.map(|base| quote!(, #base));
        let is_required = attributes.required;
        return (quote!(#with(fields, #key #base)?), Some(quote!(#is_required)));
    }
    let (inner, is_option) = attributes::unwrap_option(ty);
    let convert = |number: &str| match attributes::name_of(inner) {
        Some(name) if name != number => {
            let ty = format_ident!("{name}");
            quote!(.map(|number| number as #ty))
        }
        _ => quote!(),
    };
    let optional = if let Some(max) = &attributes.max {
        let convert = convert("u64");
        Some(quote!(fields.opt_uint(#key, #max)?#convert))
    } else if let Some((from, to)) = &attributes.range {
        let convert = convert("f64");
        Some(quote!(fields.opt_number(#key, #from, #to)?#convert))
    } else {
        None
    };
    let absent = match &attributes.absent {
        Some(Absent::Value(value)) => Some(quote!(.unwrap_or_else(|| #value))),
        Some(Absent::Default) => Some(quote!(.unwrap_or_default())),
        None if container.default && is_option => Some(quote!(.or(base.#ident))),
        None => base.map(|base| quote!(.unwrap_or(#base))),
    };
    let no = Some(quote!(false));
    match (optional, absent) {
        (Some(optional), Some(absent)) => (quote!(#optional #absent), no),
        (Some(optional), None) if is_option => (optional, no),
        (Some(optional), None) => (quote!(#optional.ok_or_else(|| fields.missing(#key))?), Some(quote!(true))),
        (None, Some(absent)) => {
            let ty = if is_option && attributes.absent.is_none() { inner } else { ty };
            (quote!(<#ty as ::contextweaver_model::json::Field>::optional(fields, #key)? #absent), no)
        }
        (None, None) => {
            let field = quote!(<#ty as ::contextweaver_model::json::Field>);
            (quote!(#field::take(fields, #key)?), Some(quote!(#field::REQUIRED)))
        }
    }
}
