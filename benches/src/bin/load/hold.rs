//! Idle connections: opened, used once, then kept until stdin ends. Measures nothing.

use std::io::Read;

use crate::options::Options;
use crate::run::{self, Load};

pub(crate) async fn hold(options: &Options) -> Result<(), String> {
    let text = run::text(options.payload);
    let load = Load::new(text.clone());
    let mut connections = run::open(options, &text).await?;
    for connection in &mut connections {
        let id = load.next_id();
        let body = connection.call(id).await.map_err(|error| error.to_string())?;
        load.check(body, id)?;
    }
    println!(r#"{{"held":{}}}"#, connections.len());
    for mut connection in connections {
        tokio::spawn(async move {
            // Reading answers pings and notices a server that hangs up.
            loop {
                if let Err(error) = connection.receive().await {
                    eprintln!("load: an idle connection ended: {error}");
                    return;
                }
            }
        });
    }
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let read = std::io::stdin().read_to_end(&mut Vec::new());
        // The receiver waits until now, so sending cannot fail.
        let _ = ended.send(read);
    });
    end.await.map_err(|error| error.to_string())?.map_err(|error| format!("cannot read stdin: {error}"))?;
    Ok(())
}
