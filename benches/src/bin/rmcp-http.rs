//! The peer for HTTP: rmcp's Streamable HTTP server, stateless, answering with plain JSON.

use std::error::Error;
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use jumpseat_benches::rmcp_echo::Echo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

fn main() -> Result<(), Box<dyn Error>> {
    let echo = Echo::default();
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(
        move || Ok(echo.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    jumpseat_benches::serve("http", |stream| {
        let service = service.clone();
        async move {
            let answer = hyper::service::service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
            });
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await?;
            Ok(())
        }
    })
}
