//! Indexes help and searches it, with the time that each takes: `help INDEX SOURCE… -- WANTED`, or `help INDEX --app NAME -- WANTED`.

use std::{env, error::Error, path::Path, time::Instant};

use deskhand_knowledge::help::{HelpFolders, HelpIndex, HelpSource, Languages};

#[expect(clippy::print_stdout, reason = "it shows what it found")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut halves = arguments.split(|argument| argument == "--");
    let (sources, wanted) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default().join(" "));
    let (index, sources) = sources.split_first().ok_or("name the folder of the index")?;
    let index = HelpIndex::open(Path::new(index))?;
    let sources: Vec<HelpSource> = match sources {
        [flag, name] if flag == "--app" => HelpFolders::default().sources(name, &Languages::of_environment()),
        paths => paths.iter().map(HelpSource::new).collect(),
    };
    for source in sources {
        let began = Instant::now();
        let added = index.add(&source)?;
        println!(
            "{}: {} files, {} passages in {} ms",
            source.path.display(),
            added.files,
            added.passages,
            began.elapsed().as_millis()
        );
        for skipped in added.skipped.iter().take(10) {
            println!("  skipped {}: {}", skipped.path.display(), skipped.reason);
        }
    }
    let began = Instant::now();
    let hits = index.search(&wanted, None, 5)?;
    println!("{} hits in {} µs", hits.len(), began.elapsed().as_micros());
    for hit in hits {
        println!("\n[{}] {}\n{}\n{}", hit.score, hit.title, hit.origin, hit.text);
    }
    Ok(())
}
