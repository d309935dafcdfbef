//! What the server offers: who it is, and its tools. Resources, prompts and completion will stand here too.

use serde_json::json;

use crate::client::Implementation;
use crate::json::ObjectWriter;
use crate::tool::Catalog;

/// Who the server is and what it has, as of now.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    info: String,
    instructions: Option<String>,
    /// The tools.
    pub tools: Catalog,
}

impl Offer {
    /// An offer without tools.
    pub fn new(info: &Implementation, instructions: Option<&str>) -> Self {
        let instructions = instructions.map(str::to_owned);
        Self { info: json!(info).to_string(), instructions, tools: Catalog::default() }
    }

    /// The server's `Implementation` as JSON text.
    pub(crate) fn info(&self) -> &str {
        &self.info
    }

    /// `listChanged` is true from the first answer: apps register tools while they run.
    pub(crate) fn write_capabilities(result: &mut ObjectWriter) {
        result.raw("capabilities", r#"{"tools":{"listChanged":true}}"#);
    }

    pub(crate) fn write_instructions(&self, result: &mut ObjectWriter) {
        if let Some(instructions) = &self.instructions {
            result.value("instructions", instructions);
        }
    }
}
