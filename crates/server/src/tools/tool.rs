//! A tool as an app describes it: name, schemas, hints, and how its arguments and output are read and written.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use jumpseat_proto::{Annotations, CallResult, InvalidTool};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Handled;

/// Why a tool failed, in words for the model. Any error becomes one with `?`.
pub struct ToolError(String);

impl ToolError {
    /// A failure that the model reads, and can often mend by calling again with other arguments.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("ToolError").field(&self.0).finish()
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The arguments of a call: a JSON object, as the client wrote it.
#[derive(Clone, Debug)]
pub struct Arguments(Box<str>);

impl Arguments {
    fn new(json: &str) -> Self {
        Self(json.into())
    }

    /// The JSON text.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// The argument of that name, when it is there and a string.
    pub fn str(&self, name: &str) -> Option<String> {
        // The others stay unread: one of them may be a number that no type here holds.
        let object = serde_json::from_str::<HashMap<String, &RawValue>>(&self.0).ok()?;
        serde_json::from_str(object.get(name)?.get()).ok()
    }

    /// All of them as one type.
    ///
    /// # Errors
    /// A tool error that says which argument does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        decode(&self.0)
    }
}

/// A tool that takes arguments `A` and gives an output `O`. Handlers are added to it at registration:
/// [`Server::add_tool`](crate::Server::add_tool) and its siblings.
pub struct Tool<A = Arguments, O = CallResult> {
    name: String,
    title: Option<String>,
    description: String,
    input_schema: Value,
    output_schema: Option<Value>,
    annotations: Annotations,
    pub(crate) deadline: Option<Duration>,
    pub(crate) replace: bool,
    pub(crate) decode: fn(&str) -> Result<A, ToolError>,
    pub(crate) encode: fn(O) -> Handled,
}

impl Tool {
    /// A tool with arguments as they come and a result of its own making.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self::with(name.into(), description.into(), |json| Ok(Arguments::new(json)), Ok)
    }

    /// A tool with arguments as they come, that answers text.
    pub fn text(name: impl Into<String>, description: impl Into<String>) -> Tool<Arguments, String> {
        let decode = |json: &str| Ok(Arguments::new(json));
        Tool::with(name.into(), description.into(), decode, |text| Ok(CallResult::text(text)))
    }
}

#[cfg(feature = "typed")]
impl Tool {
    /// A tool whose arguments and output are of a type each: the schemas come from the types, the output goes
    /// out as structured content and as the same JSON in text. Arguments that do not fit are answered with a
    /// tool error that names the field.
    pub fn typed<A, O>(name: impl Into<String>, description: impl Into<String>) -> Tool<A, O>
    where
        A: DeserializeOwned + schemars::JsonSchema,
        O: serde::Serialize + schemars::JsonSchema,
    {
        let encode = |output: O| CallResult::structured(&output).map_err(ToolError::from);
        let settings = schemars::generate::SchemaSettings::draft2020_12();
        Tool::with(name.into(), description.into(), decode, encode)
            .input_schema(schema::<A>(&settings))
            .output_schema(schema::<O>(&settings.for_serialize()))
    }

    /// A tool whose arguments are of a type, that answers text.
    pub fn typed_text<A>(name: impl Into<String>, description: impl Into<String>) -> Tool<A, String>
    where
        A: DeserializeOwned + schemars::JsonSchema,
    {
        let tool = Tool::with(name.into(), description.into(), decode, |text| Ok(CallResult::text(text)));
        tool.input_schema(schema::<A>(&schemars::generate::SchemaSettings::draft2020_12()))
    }
}

impl<A, O> Tool<A, O> {
    fn with(
        name: String,
        description: String,
        decode: fn(&str) -> Result<A, ToolError>,
        encode: fn(O) -> Handled,
    ) -> Self {
        Self {
            name,
            title: None,
            description,
            input_schema: json!({"type": "object"}),
            output_schema: None,
            annotations: Annotations::default(),
            deadline: None,
            replace: false,
            decode,
            encode,
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The JSON Schema of the arguments, which must be that of an object.
    #[must_use]
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.input_schema = schema;
        self
    }

    /// The JSON Schema of the structured content.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Hints that it changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.read_only_hint = Some(true);
        self
    }

    /// Hints whether what it changes may be lost.
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.annotations.destructive_hint = Some(destructive);
        self
    }

    /// Hints that a second call with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.annotations.idempotent_hint = Some(true);
        self
    }

    /// Hints whether it reaches outside the app.
    #[must_use]
    pub fn open_world(mut self, open_world: bool) -> Self {
        self.annotations.open_world_hint = Some(open_world);
        self
    }

    /// How long a call may take, instead of [`Limits::call_timeout`](crate::Limits). An inline handler cannot
    /// be interrupted.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Takes the place of a tool with the same name. Without this, a taken name is an error.
    #[must_use]
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }

    pub(crate) fn into_descriptor(self) -> Result<jumpseat_proto::Tool, InvalidTool> {
        jumpseat_proto::Tool::new(
            &self.name,
            self.title.as_deref(),
            &self.description,
            &self.input_schema,
            self.output_schema.as_ref(),
            self.annotations,
        )
    }
}

/// The schema of a type, without what says nothing: the dialect is the default one, the title the type's name.
#[cfg(feature = "typed")]
fn schema<T: schemars::JsonSchema>(settings: &schemars::generate::SchemaSettings) -> Value {
    let mut schema = settings.clone().into_generator().into_root_schema_for::<T>();
    schema.remove("$schema");
    schema.remove("title");
    schema.to_value()
}

#[cfg(feature = "typed")]
fn decode<T: DeserializeOwned>(json: &str) -> Result<T, ToolError> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { format!("`{path}`: ") };
        misfit(&format!("{place}{}", reason(error.inner())))
    })
}

#[cfg(not(feature = "typed"))]
fn decode<T: DeserializeOwned>(json: &str) -> Result<T, ToolError> {
    serde_json::from_str(json).map_err(|error| misfit(&reason(&error)))
}

fn misfit(reason: &str) -> ToolError {
    ToolError(format!("The arguments do not fit the tool's input schema: {reason}"))
}

/// What is wrong, without the place in the text, which the model does not see.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(all(test, feature = "typed"))]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "read by the test through Debug")]
    struct Given {
        /// How often.
        count: u8,
        tags: Vec<String>,
    }

    #[test]
    fn arguments_that_do_not_fit_are_answered_with_the_field() {
        let error = |json: &str| decode::<Given>(json).unwrap_err().to_string();
        assert!(error("{}").contains("missing field `count`"));
        assert!(error(r#"{"count":"x","tags":[]}"#).contains("`count`: invalid type: string \"x\""));
        assert!(error(r#"{"count":1,"tags":["a",2]}"#).contains("`tags[1]`"));
        assert!(!error("{}").contains("line 1"));
    }

    #[test]
    fn the_schema_comes_from_the_type() {
        let tool = Tool::typed_text::<Given>("t", "d").into_descriptor().unwrap();
        let tool: Value = serde_json::from_str(tool.descriptor()).unwrap();
        let schema = &tool["inputSchema"];
        assert_eq!(schema["required"], json!(["count", "tags"]));
        assert_eq!(schema["properties"]["count"]["description"], "How often.");
        assert!(schema.get("$schema").is_none());
    }
}
