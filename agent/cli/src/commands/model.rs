//! `deskhand model`: which models there are, and what one can.

use std::collections::BTreeMap;

use deskhand_desktop::Picture;
use deskhand_host::{
    Host, HostError, ProviderCandidate,
    config::{ModelSettings, Provider},
    found_providers,
    model::{ModelError, ModelSetup, endpoint_of},
};
use deskhand_machine::model::MessagePart;
use deskhand_model::{
    AnyModel, Endpoint, EndpointModel, Model as _, NoModelSigns, NoPictures, PictureError, PictureSource,
    recorded,
};
use deskhand_ui::{PictureRef, geometry::Rect, text::excerpt};
use serde_json::{Value, json};

use super::{
    host::load,
    local,
    probe::{probe, quick},
};
use crate::{
    args::{ModelCassetteArgs, ModelCommand, ModelCommandArgs, ModelListArgs, ModelTestArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

pub(crate) async fn model(args: &ModelCommandArgs) -> CommandResult {
    match &args.command {
        ModelCommand::List(args) => list(args).await,
        ModelCommand::Test(args) => test(args).await,
        ModelCommand::Cassette(args) => cassette(args),
        ModelCommand::Pull(args) => local::pull(&args.name).await,
        ModelCommand::Remove(args) => local::remove(&args.name).await,
    }
}

/// A provider whose models are listed.
struct ProviderListing {
    settings: ModelSettings,
    provider: Provider,
    /// Why it is listed: `ANTHROPIC_API_KEY is set`.
    why: String,
}

async fn list(args: &ModelListArgs) -> CommandResult {
    let out = Output::to(OutputStream::Out);
    let host = load(args.model.overrides())?;
    let named_local = args.provider.as_deref() == Some(Provider::Local.name());
    let mut exit = local::list(&out, &host, named_local, args.json);
    if named_local {
        return Ok(exit);
    }
    let shelves = shelves(&host, args)?;
    if shelves.is_empty() && exit == Exit::Negative {
        out.text(
            "no model can be used here: no provider is configured, none is pulled, no API key is in the environment, and no server \
             listens on this machine",
        );
        return Ok(Exit::Negative);
    }
    for shelf in shelves {
        let name = shelf.provider.name();
        if !args.json {
            let head =
                StyledLine::of(OutputTone::Strong, name).with(OutputTone::Faint, format!("  {}", shelf.why));
            out.line(&head);
        }
        let listed = match endpoint_of(shelf.settings) {
            Ok(endpoint) => endpoint.models().await.map_err(|failure| failure.message),
            Err(error) => Err(error.to_string()),
        };
        match listed {
            Ok(models) => {
                exit = Exit::Success;
                models.iter().for_each(|model| show(&out, name, model, args.json));
            }
            Err(problem) if args.json => out.json(&json!({"provider": name, "problem": problem})),
            Err(problem) => out.line(&StyledLine::of(OutputTone::Bad, format!("  {problem}"))),
        }
    }
    Ok(exit)
}

fn show(out: &Output, provider: &str, model: &EndpointModel, as_json: bool) {
    if as_json {
        out.json(&json!({
            "provider": provider, "model": model.name, "context_tokens": model.context_tokens, "pictures": model.pictures,
        }));
        return;
    }
    let context = model.context_tokens.map(|tokens| format!("reads {tokens} tokens"));
    let pictures = model.pictures.map(|takes| if takes { "pictures" } else { "no pictures" }.to_owned());
    let facts: Vec<String> = context.into_iter().chain(pictures).collect();
    out.line(
        &StyledLine::of(OutputTone::Plain, format!("  {provider}:{}", model.name))
            .with(OutputTone::Faint, format!("  {}", facts.join(", "))),
    );
}

/// The providers to list: the one that is named, or the configured one and those that are found.
fn shelves(host: &Host, args: &ModelListArgs) -> Result<Vec<ProviderListing>, CliError> {
    let configured = &host.config().model;
    let of = |provider: Provider, why: String| {
        let spec = provider.name();
        let settings = ModelSettings::from_spec(spec, configured, &BTreeMap::new());
        settings.map(|settings| ProviderListing { settings, provider, why })
    };
    if let Some(name) = &args.provider {
        let spec = ModelSettings::from_spec(name, configured, &host.config().models)?;
        let provider = spec.provider.filter(|provider| provider.service().is_some());
        let provider = provider.ok_or_else(|| CliError::usage(format!("`{name}` has no list of models")))?;
        return Ok(vec![ProviderListing { settings: spec, provider, why: String::new() }]);
    }
    let chosen = configured.provider.filter(|provider| provider.service().is_some());
    let mut shelves: Vec<ProviderListing> =
        chosen.map(|provider| of(provider, "configured".to_owned())).into_iter().collect::<Result<_, _>>()?;
    for ProviderCandidate { provider, why } in found_providers() {
        if Some(provider) != chosen {
            shelves.push(of(provider, why)?);
        }
    }
    Ok(shelves)
}

async fn test(args: &ModelTestArgs) -> CommandResult {
    let host = load(args.model.overrides())?;
    let choice = ModelSetup::of(host.config(), BTreeMap::new()).map_err(HostError::from)?.choice()?;
    let sends_pictures = choice.sees();
    let opened = quick(choice).open()?;
    let AnyModel::Endpoint(endpoint) = &opened.model else {
        return Err(CliError::usage("a script cannot answer test questions"));
    };
    opened.start().await?;
    let exit = try_out(&opened.model, endpoint, sends_pictures).await;
    opened.end().await;
    Ok(exit)
}

/// Asks two small questions, and shows the answers.
async fn try_out(model: &AnyModel, endpoint: &Endpoint, sends_pictures: bool) -> Exit {
    let out = Output::to(OutputStream::Out);
    out.line(&StyledLine::of(OutputTone::Strong, model.name()));
    let question =
        vec![MessagePart::Text { text: "How much is 2 + 3? Reply as JSON: {\"sum\": NUMBER}".to_owned() }];
    let reply =
        match model.ask(&probe(question, "sum", "integer", TOKENS_MAX), &NoPictures, &NoModelSigns).await {
            Ok(reply) => reply,
            Err(failure) => {
                out.line(&row("answers", OutputTone::Bad, &failure.message));
                return Exit::Negative;
            }
        };
    let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let answered = format!(
        "{} after {} ms, {} tokens read and {} written",
        reply.model,
        reply.elapsed_ms,
        tokens(reply.usage.prompt_tokens),
        tokens(reply.usage.completion_tokens)
    );
    out.line(&row("answers", OutputTone::Good, &answered));
    let keeps_form = serde_json::from_str::<Value>(&reply.text).is_ok_and(|reply| reply == json!({"sum": 5}));
    out.line(&if keeps_form {
        row("form", OutputTone::Good, "as asked")
    } else {
        row("form", OutputTone::Doubtful, &format!("not as asked: {}", excerpt(&reply.text, 80)))
    });
    let none = (OutputTone::Doubtful, "none are sent".to_owned());
    let (tone, sees) = if sends_pictures { sees(model).await } else { none };
    out.line(&row("pictures", tone, &sees));
    let (tone, context) = context(endpoint).await;
    out.line(&row("context", tone, &context));
    Exit::Success
}

fn row(word: &str, tone: OutputTone, text: &str) -> StyledLine {
    StyledLine::of(OutputTone::Faint, format!("  {word:<9} ")).with(tone, text)
}

/// Checks that the model recognizes the colour of a picture, and describes the result.
async fn sees(model: &AnyModel) -> (OutputTone, String) {
    let region = Rect::new(0, 0, 64, 64);
    let red = Picture { region, rgb: [220, 20, 30].repeat(64 * 64) };
    let Ok(file) = red.to_png() else { return (OutputTone::Doubtful, "not tried".to_owned()) };
    let picture = PictureRef {
        sha256: String::new(),
        media_type: "image/png".to_owned(),
        width: red.width(),
        height: red.height(),
        region,
    };
    let question = vec![
        MessagePart::Text {
            text: "Which colour is this picture? Reply as JSON: {\"colour\": WORD}".to_owned(),
        },
        MessagePart::Picture { picture },
    ];
    let request = probe(question, "colour", "string", TOKENS_MAX);
    match model.ask(&request, &OnePicture(file), &NoModelSigns).await {
        Ok(reply) if reply.text.to_lowercase().contains("red") => (OutputTone::Good, "seen".to_owned()),
        Ok(reply) => {
            let said = excerpt(&reply.text, 80);
            (
                OutputTone::Doubtful,
                format!("not seen; of a red one it says {said}; send none with --no-pictures"),
            )
        }
        Err(failure) => (OutputTone::Doubtful, failure.message),
    }
}

/// Describes the context size of the model.
async fn context(endpoint: &Endpoint) -> (OutputTone, String) {
    match endpoint.about().await.map(|about| about.and_then(|about| about.context_tokens)) {
        Ok(Some(tokens)) if tokens < CONTEXT_WANTED => (
            OutputTone::Doubtful,
            format!("{tokens} tokens; prompts are often longer, up to about {CONTEXT_WANTED}"),
        ),
        Ok(Some(tokens)) => (OutputTone::Good, format!("{tokens} tokens")),
        Ok(None) => (OutputTone::Faint, "the endpoint does not say how much it reads".to_owned()),
        Err(failure) => (OutputTone::Faint, failure.message),
    }
}

/// The context that a model should have: prompts on usual windows, pictures aside, with the reply.
const CONTEXT_WANTED: u64 = 16_000;

struct OnePicture(Vec<u8>);

impl PictureSource for OnePicture {
    fn file(&self, _: &PictureRef) -> Result<Vec<u8>, PictureError> {
        Ok(self.0.clone())
    }
}

/// The most tokens of a reply; models that think count their thoughts.
const TOKENS_MAX: u32 = 4_000;

/// Each exchange of a cassette, as a row.
fn cassette(args: &ModelCassetteArgs) -> CommandResult {
    let (model, exchanges) = recorded(&args.file).map_err(ModelError::Endpoint)?;
    let out = Output::to(OutputStream::Out);
    out.line(&StyledLine::of(OutputTone::Strong, model));
    for (at, exchange) in exchanges.iter().enumerate() {
        let status = exchange.status.map_or_else(|| "   ".to_owned(), |status| status.to_string());
        let head = format!("  {:>3}  {status}  {:>6} ms  {}  ", at + 1, exchange.took_ms, exchange.request);
        let (tone, text) = match &exchange.reading {
            Ok(text) => (OutputTone::Plain, text),
            Err(problem) => (OutputTone::Doubtful, problem),
        };
        out.line(&StyledLine::of(OutputTone::Faint, head).with(tone, excerpt(text, 200)));
    }
    Ok(Exit::Success)
}
