//! Notifications from the server: progress, changes of a list, and what an app may broadcast.

use serde_json::value::RawValue;

use crate::json::{ObjectWriter, into_text, members, string, too_deep};
use crate::message::Id;
use crate::version::Revision;

pub(crate) const TOOLS_LIST_CHANGED: &str = "notifications/tools/list_changed";

/// The key under which a notification names the subscription that it goes to.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Writes a notification; `write_params` writes the members of its params.
pub(crate) fn notification(method: &str, write_params: impl FnOnce(&mut ObjectWriter)) -> String {
    let mut buffer = Vec::with_capacity(128);
    let mut message = ObjectWriter::begin(&mut buffer);
    message.raw("jsonrpc", r#""2.0""#);
    message.value("method", method);
    message.object("params", write_params);
    message.end();
    into_text(buffer)
}

/// A notification that belongs to a subscription.
pub(crate) fn on_subscription(
    method: &str,
    subscription: &Id,
    write_params: impl FnOnce(&mut ObjectWriter),
) -> String {
    notification(method, |params| {
        params.object("_meta", |meta| meta.raw(SUBSCRIPTION_ID, subscription.as_json()));
        write_params(params);
    })
}

/// The news that the tools have changed, for those who asked for nothing in particular.
pub(crate) fn tools_list_changed() -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{TOOLS_LIST_CHANGED}"}}"#)
}

/// How to report the progress of a call whose client wants to know.
#[derive(Clone, Debug)]
pub struct Progress {
    token: Box<RawValue>,
    revision: Revision,
}

impl Progress {
    pub(crate) fn new(token: &RawValue, revision: Revision) -> Self {
        Self { token: token.to_owned(), revision }
    }

    /// A `notifications/progress`. `progress` must grow from one to the next; `total` is in the same unit.
    pub fn notification(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> String {
        notification("notifications/progress", |params| {
            params.raw("progressToken", self.token.get());
            params.value("progress", &number(progress));
            if let Some(total) = total {
                params.value("total", &number(total));
            }
            if let Some(message) = message.filter(|_| self.revision.has_progress_message()) {
                params.value("message", message);
            }
        })
    }
}

/// Whole numbers without a fraction, as people write them; what is no number as 0.
fn number(value: f64) -> serde_json::Value {
    #[allow(clippy::cast_possible_truncation, reason = "it is a whole number that fits")]
    if value.fract() == 0.0 && value.abs() < 9e15 { (value as i64).into() } else { value.into() }
}

/// Whether `text` may be broadcast: a JSON-RPC 2.0 notification.
///
/// # Errors
/// A sentence that says what it is not.
pub fn check_notification(text: &str) -> Result<(), String> {
    if too_deep(text) {
        return Err("it is nested deeper than 128 levels".into());
    }
    let [version, method, id, params] = members(text, &["jsonrpc", "method", "id", "params"])
        .map_err(|error| format!("it is not a JSON object ({error})"))?;
    if version.and_then(|version| string(version).ok()).as_deref() != Some("2.0") {
        return Err(r#"it does not have the member "jsonrpc": "2.0""#.into());
    }
    if method.is_none_or(|method| string(method).is_err()) {
        return Err(r#"its "method" is not a string"#.into());
    }
    if id.is_some() {
        return Err(r#"it has an "id", so it is a request and not a notification"#.into());
    }
    if params.is_some_and(|params| !params.get().starts_with(['{', '['])) {
        return Err(r#"its "params" are neither an object nor an array"#.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_notification_may_be_broadcast() {
        assert_eq!(check_notification(r#"{"jsonrpc":"2.0","method":"notifications/custom"}"#), Ok(()));
        for bad in [
            "",
            "[]",
            "7",
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"method":"m"}"#,
            r#"{"jsonrpc":"1.0","method":"m"}"#,
            r#"{"jsonrpc":"2.0","method":7}"#,
            r#"{"jsonrpc":"2.0","method":"m","id":1}"#,
            r#"{"jsonrpc":"2.0","method":"m","id":null}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":3}"#,
            r#"{"jsonrpc":"2.0","method":"m"} x"#,
        ] {
            assert!(check_notification(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn progress_is_a_whole_number_where_it_can_be() {
        let token = serde_json::value::to_raw_value("t").unwrap();
        let progress = Progress::new(&token, Revision::V2024_11_05);
        let text = progress.notification(50.0, Some(1.5), Some("half"));
        assert_eq!(
            text,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":50,"total":1.5}}"#
        );
    }
}
