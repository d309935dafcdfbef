//! Tools as clients see them: descriptors, written once at registration, and the catalog of them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use crate::headers::HeaderParam;
use crate::json::{ObjectWriter, into_text};

/// Tools on one page of `tools/list`.
pub const PAGE_SIZE: usize = 100;

/// Hints about what a tool does (MCP, `ToolAnnotations`). Clients may show them and should not trust them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// What it changes may be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches outside the app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// A tool that cannot be offered, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTool(String);

impl fmt::Display for InvalidTool {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidTool {}

/// What a client is told of a tool.
#[derive(Clone, Debug)]
pub struct Tool {
    name: String,
    /// The descriptor.
    json: String,
    /// The same for revisions whose `outputSchema` must be an object schema, where this one is not.
    legacy_json: Option<String>,
    pub(crate) header_params: Vec<HeaderParam>,
}

impl Tool {
    /// Puts a descriptor together, and checks it.
    ///
    /// # Errors
    /// When the name is not 1 to 128 of `A-Z a-z 0-9 _ - .` (MCP 2025-11-25, tools, "Tool Names"), when
    /// `input_schema` is not the schema of an object, or when an `x-mcp-header` in it breaks a rule of MCP
    /// 2026-07-28.
    pub fn new(
        name: &str,
        title: Option<&str>,
        description: &str,
        input_schema: &Value,
        output_schema: Option<&Value>,
        annotations: Annotations,
    ) -> Result<Self, InvalidTool> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || name.len() > 128 || !name.chars().all(fits) {
            return Err(InvalidTool(format!(
                "{name:?} is no tool name: use 1 to 128 letters, digits, '_', '-' and '.'"
            )));
        }
        if input_schema.get("type") != Some(&json!("object")) {
            return Err(InvalidTool(format!(
                r#"the input schema of {name:?} must be an object schema ("type": "object"): arguments are named (a struct with no fields takes none)"#
            )));
        }
        let header_params = HeaderParam::find(input_schema)
            .map_err(|reason| InvalidTool(format!("the input schema of {name:?}: {reason}")))?;
        let output_is_object = output_schema.is_none_or(|s| s.get("type") == Some(&json!("object")));

        let write = |output_schema: Option<&Value>| {
            let mut buffer = Vec::new();
            let mut descriptor = ObjectWriter::begin(&mut buffer);
            descriptor.value("name", name);
            if let Some(title) = title {
                descriptor.value("title", title);
            }
            descriptor.value("description", description);
            descriptor.value("inputSchema", input_schema);
            if let Some(schema) = output_schema {
                descriptor.value("outputSchema", schema);
            }
            if annotations != Annotations::default() {
                descriptor.value("annotations", &annotations);
            }
            descriptor.end();
            into_text(buffer)
        };
        let json = write(output_schema);
        let legacy_json = (!output_is_object).then(|| write(None));
        Ok(Self { name: name.into(), json, legacy_json, header_params })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What `tools/list` says of it, as JSON text.
    pub fn descriptor(&self) -> &str {
        &self.json
    }

    pub(crate) fn json(&self, any_output: bool) -> &str {
        self.legacy_json.as_deref().filter(|_| !any_output).unwrap_or(&self.json)
    }
}

/// All tools, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: BTreeMap<String, Arc<Tool>>,
}

impl Catalog {
    /// Adds a tool, in the place of one with the same name.
    pub fn insert(&mut self, tool: Tool) {
        self.tools.insert(tool.name.clone(), Arc::new(tool));
    }

    /// Removes a tool; `false` when there is none of that name.
    pub fn remove(&mut self, name: &str) -> bool {
        self.tools.remove(name).is_some()
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    /// All tools in the order of their names.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(|tool| &**tool)
    }

    /// The names of all tools, for an error that says what there is.
    pub(crate) fn names(&self) -> String {
        self.tools.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// One page: the tools after the one named `after`, and whether there are more.
    pub(crate) fn page(&self, after: Option<&str>) -> (Vec<&Tool>, bool) {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.tools.range::<str, _>((start, Bound::Unbounded)).map(|(_, tool)| &**tool);
        let page = rest.by_ref().take(PAGE_SIZE).collect();
        (page, rest.next().is_some())
    }
}
