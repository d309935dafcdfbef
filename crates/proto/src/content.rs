//! What a tool answers: content for the model, structured content for programs.

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::{ObjectWriter, write_string, write_value};
use crate::version::Revision;

/// One piece of a tool's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// What the model reads.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The file's bytes in Base64.
        data: String,
        /// For example `image/png`.
        mime_type: String,
    },
    /// Sound. Clients of 2024-11-05 get a text that says so instead.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// The file's bytes in Base64.
        data: String,
        /// For example `audio/wav`.
        mime_type: String,
    },
    /// A resource, with its content.
    Resource {
        /// The content.
        resource: EmbeddedResource,
    },
    /// Where a resource is. Clients older than 2025-06-18 get the URI as text.
    ResourceLink {
        /// Where to read it.
        uri: String,
        /// What to call it.
        name: String,
    },
}

/// The content of a resource: `text` or `blob` (Base64), one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedResource {
    uri: String,
    mime_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
}

impl Content {
    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture from a file's bytes.
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Image { data: BASE64.encode(bytes), mime_type: mime_type.into() }
    }

    /// Sound from a file's bytes.
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Audio { data: BASE64.encode(bytes), mime_type: mime_type.into() }
    }

    /// A resource whose content is text.
    pub fn resource_text(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let (uri, mime_type) = (uri.into(), mime_type.into());
        Self::Resource { resource: EmbeddedResource { uri, mime_type, text: Some(text.into()), blob: None } }
    }

    /// A resource whose content is bytes.
    pub fn resource_blob(uri: impl Into<String>, mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        let (uri, mime_type, blob) = (uri.into(), mime_type.into(), Some(BASE64.encode(bytes)));
        Self::Resource { resource: EmbeddedResource { uri, mime_type, text: None, blob } }
    }

    /// Where a resource can be read.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink { uri: uri.into(), name: name.into() }
    }

    /// Writes it for `revision`; a kind that the revision does not know becomes text that says what it is.
    fn write(&self, buffer: &mut Vec<u8>, revision: Revision) {
        match self {
            Self::Audio { data, mime_type } if !revision.has_audio() => {
                let text =
                    format!("[{mime_type}, {} bytes: this client cannot hear audio]", data.len() / 4 * 3);
                write_value(buffer, &Self::Text { text });
            }
            Self::ResourceLink { uri, name } if !revision.has_resource_links() => {
                write_value(buffer, &Self::Text { text: format!("{name}: {uri}") });
            }
            Self::Text { text } => {
                let mut object = ObjectWriter::begin(buffer);
                object.raw("type", r#""text""#);
                write_string(object.key("text"), text);
                object.end();
            }
            _ => write_value(buffer, self),
        }
    }
}

/// The result of a tool call, failed calls included: `is_error` tells the model, not the client.
#[derive(Clone, Debug, Default)]
pub struct CallResult {
    /// What the model reads, in order.
    pub content: Vec<Content>,
    /// What a program reads. When `content` is empty, the model gets the same JSON as text.
    pub structured: Option<Box<RawValue>>,
    /// Whether the call failed.
    pub is_error: bool,
}

impl CallResult {
    /// One text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::content(vec![Content::text(text)])
    }

    /// Several pieces of content.
    pub fn content(content: Vec<Content>) -> Self {
        Self { content, ..Self::default() }
    }

    /// JSON for programs, and the same as text for the model.
    ///
    /// # Errors
    /// When `value` cannot be written as JSON (a map whose keys are no strings, for example).
    pub fn structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self { structured: Some(serde_json::value::to_raw_value(value)?), ..Self::default() })
    }

    /// The same content, as a failure that the model reads.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// About how much JSON it is.
    pub(crate) fn size(&self) -> usize {
        let content = |content: &Content| match content {
            Content::Text { text } => text.len(),
            Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
            _ => 0,
        };
        self.content.iter().map(content).sum()
    }

    /// Writes the members of a `CallToolResult`.
    pub(crate) fn write(&self, result: &mut ObjectWriter, revision: Revision) {
        let buffer = result.key("content");
        buffer.push(b'[');
        for (index, content) in self.content.iter().enumerate() {
            if index > 0 {
                buffer.push(b',');
            }
            content.write(buffer, revision);
        }
        if let (true, Some(structured)) = (self.content.is_empty(), &self.structured) {
            Content::text(structured.get()).write(buffer, revision);
        }
        buffer.push(b']');
        let fits = |json: &str| revision.has_any_structured_content() || json.starts_with('{');
        if let Some(structured) = self.structured.as_ref().filter(|structured| fits(structured.get())) {
            result.raw("structuredContent", structured.get());
        }
        if self.is_error {
            result.raw("isError", "true");
        }
    }
}
