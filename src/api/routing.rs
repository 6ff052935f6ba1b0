//! Operations of a catalog of tools.

use serde_json::{Value, json};

use super::{One, done, unknown};
use crate::error::Result;
use crate::json::{self, Fields};
use crate::model::SelectableItem;
use crate::routing::Catalog;

/// Makes a catalog from `{"items": [...]}`; without the field it is empty.
pub fn new_catalog(text: &str) -> Result<Catalog> {
    let mut fields = Fields::open(json::parse_snapshot(text)?, "")?;
    let mut catalog = Catalog::new();
    for (index, item) in fields.records("items", SelectableItem::from_value)?.into_iter().enumerate() {
        register(&mut catalog, item, &format!("/items/{index}"))?;
    }
    Ok(catalog)
}

fn register(catalog: &mut Catalog, item: SelectableItem, path: &str) -> Result<()> {
    catalog.register(item).map_err(|error| {
        let path = format!("{path}{}", error.path());
        error.under(path)
    })
}

/// Runs an operation of a catalog.
pub fn catalog_call(catalog: &mut Catalog, operation: &str, arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse(arguments)?, "")?;
    match operation {
        "register" => {
            let item = SelectableItem::from_value(fields.require("item")?, "/item")?;
            fields.finish()?;
            register(catalog, item, "/item")?;
            done(&json!({}))
        }
        "get" => done(catalog.get(&only_id(fields)?)?),
        "has" => done(&One("has", &catalog.contains(&only_id(fields)?))),
        "remove" => done(&One("removed", &catalog.remove(&only_id(fields)?).is_some())),
        "items" => {
            fields.finish()?;
            let items: Vec<&SelectableItem> = catalog.items().collect();
            done(&One("items", &items))
        }
        "size" => {
            fields.finish()?;
            done(&One("size", &Value::from(catalog.len())))
        }
        other => Err(unknown(other)),
    }
}

fn only_id(mut fields: Fields) -> Result<String> {
    let id = fields.string("id")?;
    fields.finish()?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{catalog_call, new_catalog};
    use crate::error::{Error, Result};
    use crate::routing::Catalog;

    fn tool(id: &str) -> Value {
        json!({ "id": id, "kind": "tool", "name": id, "description": "does it" })
    }

    fn call(catalog: &mut Catalog, operation: &str, arguments: &Value) -> Result<Value> {
        let answer = catalog_call(catalog, operation, &arguments.to_string())?;
        Ok(serde_json::from_str::<Value>(&answer).unwrap()["done"].take())
    }

    fn refusal(result: Result<impl Sized>) -> (String, String) {
        let error: Error = result.map(drop).unwrap_err();
        (error.code().as_str().to_owned(), error.path().to_owned())
    }

    #[test]
    fn a_catalog_answers_by_id() {
        let mut catalog = new_catalog(&json!({ "items": [tool("b"), tool("a")] }).to_string()).unwrap();
        assert_eq!(call(&mut catalog, "register", &json!({ "item": tool("c") })).unwrap(), json!({}));
        let items = call(&mut catalog, "items", &json!({})).unwrap();
        let ids: Vec<&str> = items["items"].as_array().unwrap().iter().filter_map(|item| item["id"].as_str()).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        assert_eq!(call(&mut catalog, "get", &json!({ "id": "b" })).unwrap()["name"], "b");
        for (operation, wanted) in [("has", json!({ "has": true })), ("remove", json!({ "removed": true }))] {
            assert_eq!(call(&mut catalog, operation, &json!({ "id": "a" })).unwrap(), wanted);
        }
        for (operation, wanted) in [("has", json!({ "has": false })), ("remove", json!({ "removed": false }))] {
            assert_eq!(call(&mut catalog, operation, &json!({ "id": "a" })).unwrap(), wanted);
        }
        assert_eq!(call(&mut catalog, "size", &json!({})).unwrap(), json!({ "size": 2 }));
        assert_eq!(new_catalog("{}").unwrap().len(), 0);
    }

    #[test]
    fn errors_name_the_tool_at_fault() {
        for (text, code, path) in [
            (json!({ "items": [tool("a"), tool("a")] }), "DUPLICATE_ID", "/items/1/id"),
            (json!({ "items": [tool(" ")] }), "INVALID_INPUT", "/items/0/id"),
            (json!({ "items": [{ "id": "a" }] }), "MISSING_FIELD", "/items/0/kind"),
            (json!({ "items": {} }), "INVALID_INPUT", "/items"),
            (json!([]), "INVALID_INPUT", ""),
        ] {
            assert_eq!(refusal(new_catalog(&text.to_string())), (code.to_owned(), path.to_owned()), "{text}");
        }
        let mut catalog = new_catalog(&json!({ "items": [tool("a")] }).to_string()).unwrap();
        for (operation, arguments, code, path) in [
            ("register", json!({ "item": tool("a") }), "DUPLICATE_ID", "/item/id"),
            ("register", json!({}), "MISSING_FIELD", "/item"),
            ("get", json!({ "id": "b" }), "NOT_FOUND", "/id"),
            ("get", json!({ "id": 1 }), "INVALID_INPUT", "/id"),
            ("has", json!({ "id": "a", "x": 1 }), "UNKNOWN_FIELD", "/x"),
            ("items", json!({ "x": 1 }), "UNKNOWN_FIELD", "/x"),
            ("nonsense", json!({}), "UNSUPPORTED", ""),
        ] {
            let refused = refusal(call(&mut catalog, operation, &arguments));
            assert_eq!(refused, (code.to_owned(), path.to_owned()), "{operation} {arguments}");
        }
        assert_eq!(catalog.len(), 1, "a failing call changes nothing");
    }
}
