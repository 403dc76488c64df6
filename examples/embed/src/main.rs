//! Carries out one request under the user's configuration, on a private virtual desktop that ends with it.
#![expect(clippy::print_stdout, reason = "the example shows how the request ended")]

use deskhand_host::{Control, Host, HostError, config::Sources};

#[tokio::main]
async fn main() -> Result<(), HostError> {
    let request = std::env::args().nth(1).unwrap_or_else(|| "Write a greeting into a text editor".to_owned());
    let host = Host::load(&Sources::of_user())?;
    let session = host.start(request.as_str())?;
    if let Some(ended) = session.run(&Control::unattended(), &mut ()).await? {
        println!("{}: {}", ended.outcome().kind, ended.outcome().reason);
        println!("{}", ended.folder.path().display());
    }
    Ok(())
}
