//! What the tasks leave, as other programs read it.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// The password of the database.
const PASSWORD: &str = "bench password";

/// The file that the forms write.
pub(super) fn order(folder: &Path) -> Result<()> {
    let text = std::fs::read_to_string(folder.join("order.json")).context("read the order")?;
    let order: Value = serde_json::from_str(&text).context("parse the order")?;
    let expected = json!({"customer": "Globex", "material": "Nickel", "amount": "12", "express": true});
    ensure!(order == expected, "the order is {order}");
    Ok(())
}

/// The picture, blue above red: it was red above blue.
pub(super) fn picture(folder: &Path) -> Result<()> {
    const READ: &str = "import sys; from PIL import Image; i = Image.open(sys.argv[1]).convert('RGB'); \
                        print(i.size, i.getpixel((5, 5)), i.getpixel((5, 40)))";
    let read = said(Command::new("/usr/bin/python3").args(["-c", READ]).arg(folder.join("turned.png")), "")?;
    ensure!(read.trim() == "(64, 48) (0, 0, 200) (200, 0, 0)", "the picture is {read}");
    Ok(())
}

/// Makes a database without entries.
pub(super) fn make_database(folder: &Path) -> Result<()> {
    let mut command = Command::new("keepassxc-cli");
    command.args(["db-create", "--set-password", "--quiet"]).arg(folder.join("shop.kdbx"));
    said(&mut command, &format!("{PASSWORD}\n{PASSWORD}\n")).map(drop)
}

/// The entry in the database.
pub(super) fn database(folder: &Path) -> Result<()> {
    let mut command = Command::new("keepassxc-cli");
    let fields = ["-a", "Title", "-a", "UserName", "-a", "Password"];
    command
        .args(["show", "--quiet", "--show-protected"])
        .args(fields)
        .arg(folder.join("shop.kdbx"))
        .arg("Globex");
    let read = said(&mut command, &format!("{PASSWORD}\n"))?;
    ensure!(read.lines().eq(["Globex", "ada", "correct horse"]), "the entry is {read}");
    Ok(())
}

/// The contact in the address book.
pub(super) fn contact(folder: &Path) -> Result<()> {
    const READ: &str = "import glob, sqlite3, sys; \
        files = glob.glob(sys.argv[1] + '/.thunderbird/*/abook.sqlite'); \
        rows = [row for file in files for row in sqlite3.connect(file).execute( \
            \"select name, value from properties where name in ('FirstName', 'LastName', 'PrimaryEmail') order by name\")]; \
        print(rows)";
    let home = folder.parent().context("find the home")?;
    let read = said(Command::new("/usr/bin/python3").args(["-c", READ]).arg(home), "")?;
    let expected = "[('FirstName', 'Ada'), ('LastName', 'Lovelace'), ('PrimaryEmail', 'ada@example.org')]";
    ensure!(read.trim() == expected, "the contacts are {read}");
    Ok(())
}

/// What a program prints, with this input.
fn said(command: &mut Command, input: &str) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("start {name}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(input.as_bytes()).with_context(|| format!("write to {name}"))?;
    }
    let output = child.wait_with_output().with_context(|| format!("run {name}"))?;
    ensure!(output.status.success(), "{name} failed ({})", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
