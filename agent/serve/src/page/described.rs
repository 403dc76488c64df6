//! Responses as the description of the API has them.

use aide::{
    generate::GenContext,
    openapi::{MediaType, Response as Described, SchemaObject},
};
use schemars::JsonSchema;

/// A response with a body.
pub(super) fn described<T: JsonSchema>(context: &mut GenContext, kind: &str, words: &str) -> Described {
    let json_schema = context.schema.subschema_for::<T>();
    let schema = Some(SchemaObject { json_schema, external_docs: None, example: None });
    let content = [(kind.to_owned(), MediaType { schema, ..MediaType::default() })];
    Described {
        description: words.to_owned(),
        content: content.into_iter().collect(),
        ..Described::default()
    }
}
