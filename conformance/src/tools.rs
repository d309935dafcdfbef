//! The tools, by the names that the conformance suites call, and a few for the checks of the SDKs' clients. They
//! answer what a check compares, and nothing depends on the app.

use std::time::Duration;

use jumpseat::{AddToolError, Arguments, CallResult, Content, Context, Server, Tool, ToolError};
use serde_json::json;

use crate::media::{PNG, WAV};

/// Between two progress notifications.
const STEP: Duration = Duration::from_millis(50);
/// The tool that [`toggle`] adds and removes.
const CHANGED_TOOL: &str = "test_changed_tool";

/// Registers every tool.
pub(crate) fn register(server: &Server) -> Result<(), AddToolError> {
    register_contents(server)?;
    register_behaviours(server)?;
    register_schemas(server)
}

/// One tool for each kind of content.
fn register_contents(server: &Server) -> Result<(), AddToolError> {
    add(server, "test_simple_text", "Answers one text", |_, _| {
        Ok(CallResult::text("This is a simple text response for testing."))
    })?;
    add(server, "test_image_content", "Answers a picture", |_, _| {
        Ok(CallResult::content(vec![Content::image(PNG, "image/png")]))
    })?;
    add(server, "test_audio_content", "Answers a sound", |_, _| {
        Ok(CallResult::content(vec![Content::audio(WAV, "audio/wav")]))
    })?;
    add(server, "test_embedded_resource", "Answers a resource", |_, _| {
        let text = "This is an embedded resource content.";
        Ok(CallResult::content(vec![Content::resource_text("test://embedded-resource", "text/plain", text)]))
    })?;
    add(server, "test_multiple_content_types", "Answers a text, a picture and a resource", |_, _| {
        let resource = json!({ "test": "data", "value": 123 }).to_string();
        Ok(CallResult::content(vec![
            Content::text("Multiple content types test:"),
            Content::image(PNG, "image/png"),
            Content::resource_text("test://mixed-content-resource", "application/json", resource),
        ]))
    })
}

/// Tools that fail, report progress, change the list of tools, or tell who called.
fn register_behaviours(server: &Server) -> Result<(), AddToolError> {
    add(server, "test_error_handling", "Fails", |_, _| {
        Err(ToolError::new("This tool intentionally returns an error for testing"))
    })?;
    let progress = Tool::new("test_tool_with_progress", "Reports progress three times");
    server.add_tool(progress, |_: Arguments, context| async move {
        for done in [0.0, 50.0, 100.0] {
            context.progress(done, Some(100.0), Some("Working"));
            tokio::time::sleep(STEP).await;
        }
        Ok(CallResult::text("Done."))
    })?;
    let changing = server.clone();
    add(server, "test_trigger_tool_change", "Adds a tool, or removes the one it added", move |_, _| {
        toggle(&changing).map(CallResult::text).map_err(|error| ToolError::new(error.to_string()))
    })?;
    add(server, "test_streaming_elicitation", "Answers at once, and asks the client for nothing", |_, _| {
        Ok(CallResult::text("Nothing was asked."))
    })?;
    add(server, "test_logging_tool", "Answers at once, and logs nothing", |_, _| {
        Ok(CallResult::text("Nothing was logged."))
    })?;
    add(server, "caller", "Tells what the server knows of who called", |_, context| {
        let caller = context.caller();
        let client =
            caller.client.as_ref().map(|client| json!({ "name": client.name, "version": client.version }));
        let told = json!({
            "revision": caller.revision,
            "transport": format!("{:?}", caller.transport),
            "client": client,
        });
        CallResult::structured(&told).map_err(|error| ToolError::new(error.to_string()))
    })
}

/// Tools whose input schema matters.
fn register_schemas(server: &Server) -> Result<(), AddToolError> {
    let echo = Tool::text("echo", "Answers its text").input_schema(json!({
        "type": "object",
        "properties": { "text": { "type": "string" } },
        "required": ["text"],
    }));
    server.add_blocking_tool(echo, |arguments, _| string(&arguments, "text"))?;
    let header = Tool::text("test_custom_header", "Answers a value that HTTP clients also send as a header");
    let header = header.input_schema(json!({
        "type": "object",
        "properties": { "value": { "type": "string", "x-mcp-header": "Value" } },
        "required": ["value"],
    }));
    server.add_inline_tool(header, |arguments, _| string(&arguments, "value"))?;
    let schema = Tool::text("json_schema_2020_12_tool", "Has a schema that uses much of JSON Schema 2020-12");
    let schema = schema.input_schema(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    }));
    server.add_inline_tool(schema, |arguments, _| Ok(arguments.raw().to_owned()))
}

/// Registers a tool without parameters whose handler does not block.
fn add(
    server: &Server,
    name: &str,
    description: &str,
    handler: impl Fn(Arguments, Context) -> Result<CallResult, ToolError> + Send + Sync + 'static,
) -> Result<(), AddToolError> {
    server.add_inline_tool(Tool::new(name, description), handler)
}

fn string(arguments: &Arguments, name: &str) -> Result<String, ToolError> {
    arguments.str(name).ok_or_else(|| ToolError::new(format!("{name:?} must be a string")))
}

fn toggle(server: &Server) -> Result<&'static str, AddToolError> {
    if server.remove_tool(CHANGED_TOOL) {
        return Ok("Removed a tool.");
    }
    add(server, CHANGED_TOOL, "Comes and goes", |_, _| Ok(CallResult::text("Here for now.")))?;
    Ok("Added a tool.")
}
