//! `subscriptions/listen` (MCP 2026-07-28, patterns, "Subscriptions"): a request that stays open and brings
//! the changes that it asked for.

use crate::error::ErrorObject;
use crate::json::{ObjectWriter, is_object, members};
use crate::message::{Id, Params};
use crate::notification::{SUBSCRIPTION_ID, TOOLS_LIST_CHANGED, on_subscription};
use crate::offer::Offer;
use crate::reply::Reply;
use crate::version::Revision;

/// A subscription that has begun.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The request's id, by which it is cancelled.
    pub id: Id,
    /// The first message on it.
    pub acknowledgement: String,
}

/// The changes that a subscription asked for and gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    tools_list_changed: bool,
}

impl Filter {
    pub(crate) fn parse(params: &Params) -> Result<Self, ErrorObject> {
        let filter = params.notifications.filter(|filter| is_object(filter)).ok_or_else(|| {
            ErrorObject::invalid_params(
                r#""notifications" must be an object that says what to listen for, such as {"toolsListChanged": true}"#,
            )
        })?;
        let [tools] = members(filter.get(), &["toolsListChanged"])
            .map_err(|error| ErrorObject::invalid_params(format!(r#""notifications": {error}"#)))?;
        Ok(Self { tools_list_changed: tools.is_some_and(|tools| tools.get() == "true") })
    }

    /// The first message: what of the filter is served.
    pub(crate) fn acknowledgement(self, id: &Id) -> String {
        on_subscription("notifications/subscriptions/acknowledged", id, |params| {
            params.object("notifications", |filter| {
                if self.tools_list_changed {
                    filter.raw("toolsListChanged", "true");
                }
            });
        })
    }

    pub(crate) fn tools_list_changed(self, id: &Id) -> Option<String> {
        self.tools_list_changed.then(|| on_subscription(TOOLS_LIST_CHANGED, id, |_| {}))
    }
}

/// The response that ends a subscription when the server does ("Graceful Closure").
pub(crate) fn closure(id: &Id, revision: Revision, offer: &Offer) -> String {
    let meta = |meta: &mut ObjectWriter| meta.raw(SUBSCRIPTION_ID, id.as_json());
    Reply::result_with_meta(id, revision, offer, 0, |_| {}, meta).text
}
