//! The tools that every server has: `device_info`, `app_info` and `system_time`.

use std::sync::Arc;

use jumpseat_proto::CallResult;
use serde::Serialize;

use super::{Arguments, Handled, Tool};
use crate::error::AddToolError;
use crate::platform::{Platform, schema, time};
use crate::server::Server;

/// All three ask the operating system, which may take its time: they are blocking ones.
pub(crate) fn register(server: &Server, platform: &Arc<dyn Platform>) -> Result<(), AddToolError> {
    let asked = platform.clone();
    server.add_blocking_tool(
        read_only("device_info", "Get device information")
            .title("Device information")
            .output_schema(schema::device_info_output_schema()),
        move |_: Arguments, _| structured(&asked.device_info()),
    )?;
    let asked = platform.clone();
    server.add_blocking_tool(
        read_only("app_info", "Get application information")
            .title("Application information")
            .output_schema(schema::app_info_output_schema()),
        move |_: Arguments, _| structured(&asked.app_info()),
    )?;
    server.add_blocking_tool(
        read_only("system_time", "Get current system time")
            .title("System time")
            .input_schema(schema::system_time_input_schema())
            .output_schema(schema::system_time_output_schema()),
        |arguments: Arguments, _| structured(&time::system_time(&arguments.parse()?)?),
    )
}

fn read_only(name: &str, description: &str) -> Tool<Arguments, CallResult> {
    Tool::new(name, description).read_only()
}

fn structured<T: Serialize>(value: &T) -> Handled {
    Ok(CallResult::structured(value)?)
}
