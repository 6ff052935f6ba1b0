//! Reads the attributes `#[record(…)]` of a record and of its fields.

use syn::meta::ParseNestedMeta;
use syn::{
    Attribute, Error, Expr, ExprRange, GenericArgument, Ident, LitStr, Path, PathArguments, RangeLimits, Result, Token,
    Type,
};

/// The attributes of a record.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are words that stand in an attribute or not")]
pub struct Container {
    pub closed: bool,
    pub root: bool,
    pub default: bool,
    pub check: bool,
    pub partial: bool,
}

impl Container {
    pub fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut container = Self::default();
        each(attributes, |meta| {
            let flag = match name(&meta)?.as_str() {
                "closed" => &mut container.closed,
                "root" => &mut container.root,
                "default" => &mut container.default,
                "check" => &mut container.check,
                "partial" => &mut container.partial,
                _ => return Err(meta.error("expected closed, root, default, check or partial")),
            };
            *flag = true;
            Ok(())
        })?;
        Ok(container)
    }
}

/// The value of an absent field.
pub enum Absent {
    Default,
    Value(Expr),
}

/// The attributes of a field.
#[derive(Default)]
pub struct FieldAttributes {
    name: Option<LitStr>,
    pub absent: Option<Absent>,
    pub max: Option<Expr>,
    pub range: Option<(Expr, Expr)>,
    pub with: Option<Path>,
    pub required: bool,
    pub flatten: bool,
    /// The value of a field that is not read.
    pub skip: Option<Absent>,
}

impl FieldAttributes {
    pub fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut field = Self::default();
        each(attributes, |meta| {
            match name(&meta)?.as_str() {
                "name" => field.name = Some(meta.value()?.parse()?),
                "default" => field.absent = Some(absent(&meta)?),
                "max" => field.max = Some(meta.value()?.parse()?),
                "range" => field.range = Some(bounds(meta.value()?.parse()?)?),
                "with" => field.with = Some(meta.value()?.parse()?),
                "flatten" => field.flatten = true,
                "required" => field.required = true,
                "skip" => field.skip = Some(absent(&meta)?),
                _ => return Err(meta.error("expected name, default, max, range, with, required, flatten or skip")),
            }
            Ok(())
        })?;
        Ok(field)
    }

    /// Returns the name of the field on the wire.
    pub fn key(&self, ident: &Ident) -> String {
        self.name.as_ref().map_or_else(|| ident.to_string(), LitStr::value)
    }
}

fn each(attributes: &[Attribute], mut read: impl FnMut(ParseNestedMeta) -> Result<()>) -> Result<()> {
    let mut records = attributes.iter().filter(|attribute| attribute.path().is_ident("record"));
    records.try_for_each(|attribute| attribute.parse_nested_meta(&mut read))
}

fn name(meta: &ParseNestedMeta) -> Result<String> {
    Ok(meta.path.require_ident()?.to_string())
}

fn absent(meta: &ParseNestedMeta) -> Result<Absent> {
    if meta.input.peek(Token![=]) { meta.value()?.parse().map(Absent::Value) } else { Ok(Absent::Default) }
}

fn bounds(range: ExprRange) -> Result<(Expr, Expr)> {
    match range {
        ExprRange { start: Some(start), end: Some(end), limits: RangeLimits::Closed(_), .. } => Ok((*start, *end)),
        other => Err(Error::new_spanned(other, "expected from..=to")),
    }
}

/// Returns what an `Option` holds, or the type itself, and whether it is one.
pub fn unwrap_option(ty: &Type) -> (&Type, bool) {
    if let Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
        && last.ident == "Option"
        && let PathArguments::AngleBracketed(arguments) = &last.arguments
        && let Some(GenericArgument::Type(inner)) = arguments.args.first()
    {
        return (inner, true);
    }
    (ty, false)
}

/// Returns the last name in the path of a type.
pub fn name_of(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}
