//! Tests of reading and merging configurations, and of their errors.

use std::{fs, path::Path};

use deskhand_machine::policy::PathRoots;

use super::{
    Config, DesktopKind, LoadedConfig, ModelSettings, Overrides, Provider, ScreenSize, SessionLayer, Sources,
    all_keys, confine, explain, is_section_key, keys_below, load, price_table, schema_text, starter_text,
};

fn load_text(text: &str, variables: &[(&str, &str)]) -> Result<LoadedConfig, String> {
    load_with(text, variables, Overrides::default())
}

pub(super) fn load_with(
    text: &str,
    variables: &[(&str, &str)],
    overrides: Overrides,
) -> Result<LoadedConfig, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, text).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let sources = Sources { file: Some(path), variables: variables.collect(), overrides };
    load(&sources).map_err(|error| {
        format!("{error}\nhelp: {}", error.help()).replace(folder.path().to_str().unwrap(), "[dir]")
    })
}

#[track_caller]
fn check_error(text: &str, variables: &[(&str, &str)], expected: &str) {
    assert_eq!(load_text(text, variables).unwrap_err(), expected);
}

#[test]
fn later_layers_win_and_values_know_their_source() {
    let loaded = load_text(
        "[model]\nprovider = \"openai\"\ntimeout_s = 7\n\n[limits]\nsteps_max = 9\n",
        &[("DESKHAND__LIMITS__STEPS_MAX", "12"), ("DESKHAND__MODELS__LOCAL__MODEL", "tiny"), ("OTHER", "1")],
    )
    .unwrap();
    assert_eq!(loaded.config.limits.steps_max, 12);
    assert_eq!(loaded.config.model.timeout_s, 7);
    assert_eq!(loaded.config.models["local"].model.as_deref(), Some("tiny"));
    let steps = explain(&loaded, "limits.steps_max").unwrap();
    assert_eq!(steps.comes_from, "the environment variable DESKHAND__LIMITS__STEPS_MAX");
    assert_eq!((steps.value, steps.default), (12.into(), 50.into()));
    let timeout = explain(&loaded, "model.timeout_s").unwrap();
    assert!(timeout.comes_from.ends_with("config.toml:3"), "{}", timeout.comes_from);
    assert_eq!(explain(&loaded, "model.vision").unwrap().comes_from, "the default");
    assert_eq!(explain(&loaded, "models.local.base_url").unwrap().comes_from, "the default");
}

#[test]
fn errors_name_the_place_and_the_next_step() {
    check_error(
        "[model]\nbase_ulr = \"http://x\"\n",
        &[],
        "unknown key `model.base_ulr` in [dir]/config.toml:2\nhelp: did you mean `model.base_url`? \
         `deskhand config explain model.base_url` describes it",
    );
    check_error(
        "\n[modle]\nbase_url = \"http://x\"\n",
        &[],
        "unknown key `modle` in [dir]/config.toml:2\nhelp: did you mean `model`? \
         `deskhand config explain model` describes it",
    );
    check_error(
        "steps_max = 3\n",
        &[],
        "unknown key `steps_max` in [dir]/config.toml:1\nhelp: did you mean `limits.steps_max`? \
         `deskhand config explain limits.steps_max` describes it",
    );
    check_error(
        "[limits]\nsteps_max = \"many\"\n",
        &[],
        "`limits.steps_max` in [dir]/config.toml:2 is \"many\", but it must be a whole number from 1\n\
         help: `deskhand config explain limits.steps_max` describes it",
    );
    check_error(
        "[limits]\nsteps_max = -3\n",
        &[],
        "`limits.steps_max` in [dir]/config.toml:2 is -3, but it must be a whole number from 1\n\
         help: `deskhand config explain limits.steps_max` describes it",
    );
    check_error(
        "[view]\njpeg_quality = 0\n",
        &[],
        "`view.jpeg_quality` in [dir]/config.toml:2 is 0, but it must be a whole number from 1 to 100\n\
         help: `deskhand config explain view.jpeg_quality` describes it",
    );
    check_error(
        "[model]\nprovider = \"opnai\"\n",
        &[],
        "`model.provider` in [dir]/config.toml:2 is \"opnai\", but it must be one of \"openai\", \"openai_responses\", \"azure\", \"anthropic\", \
         \"gemini\", \"ollama\", \"deepseek\", \"qwen\", \"openrouter\", \"mistral\", \"groq\", \"xai\", \"vllm\", \"llama_cpp\", \"local\", \"script\"\n\
         help: did you mean \"openai\"?",
    );
    check_error(
        "[desktop]\nsize = \"huge\"\n",
        &[],
        "`desktop.size` in [dir]/config.toml:2 is \"huge\", but it must be a size such as \
         \"1920x1080\" (each side 320 to 16384)\nhelp: `deskhand config explain desktop.size` describes it",
    );
    check_error(
        "model = 3\n",
        &[],
        "`model` in [dir]/config.toml:1 is 3, but it must be a section\n\
         help: `deskhand config explain model` describes it",
    );
    check_error(
        "",
        &[("DESKHAND__MODEL__VISION", "perhaps")],
        "`model.vision` in the environment variable DESKHAND__MODEL__VISION is \"perhaps\", but it must be true \
         or false\nhelp: `deskhand config explain model.vision` describes it",
    );
    check_error(
        "[model\nprovider = 3",
        &[],
        "failed to read the configuration [dir]/config.toml:1: unclosed table, expected `]`\n\
         help: fix that line; `deskhand config explain` lists every key",
    );
}

#[test]
fn every_key_can_be_explained() {
    let loaded = load_text("", &[]).unwrap();
    let keys = all_keys();
    assert!(keys.contains(&"models.NAME.base_url".to_owned()), "{keys:?}");
    for key in keys {
        let explanation = explain(&loaded, &key).unwrap();
        assert!(!explanation.meaning.is_empty(), "{key} has no meaning");
    }
    let provider = explain(&loaded, "model.provider").unwrap();
    let words: Vec<&str> = provider.allowed.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, Provider::ALL.map(Provider::name));
}

/// The starter file with its commented lines uncommented: all of them, or only those that are not examples.
fn uncommented(examples: bool) -> String {
    const EXAMPLE: &str = "# example";
    let mut in_example = false;
    let mut text = String::new();
    for line in starter_text().lines() {
        let commented = line.strip_prefix('#').filter(|rest| !rest.is_empty() && !rest.starts_with(' '));
        let content = commented.unwrap_or(line);
        if content.starts_with('[') {
            in_example = content.ends_with(EXAMPLE);
        }
        if commented.is_none() || examples || !(in_example || content.ends_with(EXAMPLE)) {
            text.push_str(content);
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_starter_file_shows_defaults_and_examples() {
    assert_eq!(load_text(starter_text(), &[]).unwrap().config, Config::default());
    let defaults = load_text(&uncommented(false), &[]).unwrap();
    assert_eq!(defaults.config, Config::default());
    assert!(defaults.origins.contains_key("view.jpeg_quality"), "{:?}", defaults.origins);
    let all = load_text(&uncommented(true), &[]).unwrap();
    assert_eq!(all.config.models["local"].base_url.as_deref(), Some("http://127.0.0.1:8000/v1"));
    assert_eq!(all.config.policy.rules.len(), 1);
}

#[test]
fn overrides_win_under_the_names_of_their_caller() {
    let overrides = Overrides::default().set("limits.steps_max", 3, "the flag --max-steps").set_if(
        "limits.minutes_max",
        None::<u64>,
        "--max-minutes",
    );
    let loaded = load_with("", &[("DESKHAND__LIMITS__STEPS_MAX", "12")], overrides).unwrap();
    assert_eq!(loaded.config.limits.steps_max, 3);
    assert_eq!(explain(&loaded, "limits.steps_max").unwrap().comes_from, "the flag --max-steps");
    assert!(loaded.overrides("limits.steps_max") && !loaded.overrides("limits.minutes_max"));

    let wrong = Overrides::default().set("limits.steps_max", 0, "the flag --max-steps");
    assert_eq!(
        load_with("", &[], wrong).unwrap_err(),
        "`limits.steps_max` in the flag --max-steps is 0, but it must be a whole number from 1\n\
         help: `deskhand config explain limits.steps_max` describes it"
    );
}

#[test]
fn specification_chooses_a_model_and_keeps_the_endpoint_settings() {
    let text =
        "[model]\nprovider = \"openai\"\nmodel = \"big\"\ntimeout_s = 7\n[models.local]\nmodel = \"tiny\"\n";
    let model = |spec: &str| load_with(text, &[], Overrides::default().model(spec, "--model"));
    let named = model("openai:small").unwrap();
    assert_eq!((named.config.model.model.as_deref(), named.config.model.timeout_s), (Some("small"), 7));
    assert_eq!(explain(&named, "model.model").unwrap().comes_from, "--model");
    assert!(explain(&named, "model.timeout_s").unwrap().comes_from.ends_with("config.toml:4"));
    assert_eq!(model("openai").unwrap().config.model.model.as_deref(), Some("big"));
    assert_eq!(model("local").unwrap().config.model.model.as_deref(), Some("tiny"));
    let claude = model("anthropic:claude-x").unwrap().config.model;
    assert_eq!((claude.provider, claude.model.as_deref()), (Some(Provider::Anthropic), Some("claude-x")));
    assert_eq!((claude.base_url, claude.timeout_s), (None, 1_800), "those of another provider do not hold");
    let script = model("script:turns.toml").unwrap().config.model;
    assert_eq!((script.provider, script.timeout_s), (Some(Provider::Script), 1_800));
    assert_eq!(model("locale").unwrap_err(), "there is no model `locale`\nhelp: did you mean `local`?");

    let address = Overrides::default().set("model.base_url", "http://127.0.0.1:8000/v1", "--base-url");
    assert_eq!(load_with("", &[], address).unwrap().config.model.provider, Some(Provider::OpenAi));
}

#[test]
fn resumed_session_keeps_its_settings_unless_overridden() {
    let layer = SessionLayer {
        session: "0197".to_owned(),
        model: ModelSettings { model: Some("of-then".to_owned()), ..ModelSettings::default() },
        desktop: DesktopKind::Current,
        size: ScreenSize::default(),
    };
    let text = "[model]\nmodel = \"of-today\"\n[desktop]\nkind = \"virtual\"\nsize = \"800x600\"\n";
    let today = load_text(text, &[]).unwrap();
    let resumed = today.for_session(&layer).unwrap();
    assert_eq!(resumed.config.model.model.as_deref(), Some("of-then"));
    assert_eq!(resumed.config.desktop.kind, Some(DesktopKind::Current));
    assert_eq!(explain(&resumed, "model.model").unwrap().comes_from, "session 0197");

    let overrides =
        Overrides::default().model("openai:another", "--model").set("desktop.size", "640x480", "--size");
    let resumed = load_with(text, &[], overrides).unwrap().for_session(&layer).unwrap();
    assert_eq!(resumed.config.model.model.as_deref(), Some("another"));
    assert_eq!(resumed.config.desktop.size.to_string(), "640x480");
}

/// Set `DESKHAND_UPDATE_SCHEMA=1` to write the file.
#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.schema.json");
    if std::env::var_os("DESKHAND_UPDATE_SCHEMA").is_some() {
        fs::write(&path, schema_text()).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap_or_default(),
        schema_text(),
        "run with DESKHAND_UPDATE_SCHEMA=1"
    );
}

#[test]
fn policy_prices_and_limits_of_a_session_are_configured() {
    let loaded = load_text(
        "[limits]\ncost_max = 0.5\n[session_limits]\nsteps_max = 7\n[work]\nverify = \"always\"\n\
         [[policy.rules]]\napplication = \"*mail*\"\nlabel = \"send*\"\ndecision = \"deny\"\nreason = \"by hand\"\n\
         [prices.\"my-model\"]\nprompt = 1\ncompletion = 2.5\n",
        &[("DESKHAND__SESSION_LIMITS__COST_MAX", "2.25"), ("DESKHAND__POLICY__SAFE_GUARD", "false")],
    )
    .unwrap();
    let config = loaded.config;
    assert_eq!(config.limits.to_limits().unwrap().money_max.unwrap().to_string(), "$0.50");
    let limits = config.session_limits.to_limits().unwrap();
    assert_eq!((limits.steps_max, limits.money_max.unwrap().to_string().as_str()), (Some(7), "$2.25"));
    let policy = config.policy.to_policy(&PathRoots::default());
    assert!(!policy.safe_guard);
    assert_eq!(policy.rules[0].to_string(), "deny application `*mail*` label `send*`");
    let prices = price_table(&config.prices).unwrap();
    assert_eq!(prices.find("my-model").unwrap().completion.to_string(), "$2.50");
    assert!(prices.find("gpt-5-mini").is_some(), "built-in prices are kept");

    let incomplete = load_text("[prices.x]\nprompt = 1\n", &[]).unwrap().config;
    assert_eq!(
        price_table(&incomplete.prices).unwrap_err().to_string(),
        "prices.x needs both `prompt` and `completion`"
    );
    let negative = load_text("[limits]\ncost_max = -1\n", &[]).unwrap().config;
    assert_eq!(
        negative.limits.to_limits().unwrap_err().to_string(),
        "`limits.cost_max` is not an amount of money"
    );
}

#[test]
fn a_file_of_rules_takes_the_place_of_those_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.toml");
    let configured = "[policy]\nsafe_guard = false\n[[policy.rules]]\ntool = \"save\"\ndecision = \"deny\"\n";
    let with = |text: &str, more: &[(&str, bool)]| {
        fs::write(&file, text).unwrap();
        let chosen = Overrides::default().set("policy.file", file.to_str().unwrap(), "the flag --policy");
        let overrides = more.iter().fold(chosen, |all, (key, value)| all.set(key, *value, "a flag"));
        load_with(configured, &[], overrides).map_err(|error| error.replace(file.to_str().unwrap(), "[file]"))
    };
    let rules = "[[rules]]\ntool = \"save_as\"\ndecision = \"ask\"\n";
    let loaded = with(rules, &[]).unwrap();
    let policy = loaded.config.policy.to_policy(&PathRoots::default());
    assert!(policy.safe_guard, "what the file leaves out is the default");
    assert_eq!(policy.rules.iter().map(ToString::to_string).collect::<Vec<_>>(), ["ask tool `save_as`"]);
    assert!(explain(&loaded, "policy.rules").unwrap().comes_from.ends_with("rules.toml:1"));
    assert!(loaded.overrides("policy.file"));
    // What protects it from agents: a whole path.
    assert_eq!(loaded.config.policy.file.as_deref(), Some(file.as_path()));
    assert!(confine(&loaded.config).hidden.contains(&file));
    // A flag for this run is stronger than the file.
    assert!(!with(rules, &[("policy.safe_guard", false)]).unwrap().config.policy.safe_guard);
    for (text, told) in [
        ("[[rules]]\ntool = \"save_ass\"\ndecision = \"ask\"\n", "did you mean `save_as`?"),
        ("[[rule]]\n", "unknown key `policy.rule` in [file]:1\nhelp: did you mean `policy.rules`?"),
        ("rules = 1\n", "`policy.rules` in [file]:1 is 1"),
        ("safe_guard = \n", "failed to read the configuration [file]:1"),
        ("file = \"other.toml\"\n", "names another file"),
    ] {
        let error = with(text, &[]).unwrap_err();
        assert!(error.contains(told), "{told}: {error}");
    }
    let gone = load_text("[policy]\nfile = \"/nonexistent/rules.toml\"\n", &[]).unwrap_err();
    assert!(gone.contains("failed to read the policy /nonexistent/rules.toml: No such file"), "{gone}");
}

#[test]
fn detection_settings_are_read_and_checked() {
    use deskhand_desktop_detect::OcrUse;

    let detection = |text: &str, variables: &[(&str, &str)]| {
        load_text(text, variables)
            .unwrap()
            .config
            .to_detection()
            .map_err(|error| format!("{error}; {}", error.help()))
    };
    let default = detection("", &[]).unwrap();
    assert_eq!((default.tree, default.ocr, default.omniparser), (true, OcrUse::EmptyWindows, None));
    assert_eq!(detection("[ocr]\nempty_windows = false\n", &[]).unwrap().ocr, OcrUse::Never);

    let text = "control_backend = [\"ocr\", \"omniparser\"]\n[ocr]\nscale = 3\nlanguages = \"eng+deu\"\n\
                [omniparser]\nendpoint = \"http://127.0.0.1:8000\"\ntimeout_s = 5\n[detection]\nmerge_iou = 0.4\n";
    let all = detection(text, &[]).unwrap();
    assert_eq!((all.tree, all.ocr, all.merge.iou), (false, OcrUse::Always, 0.4));
    assert_eq!((all.reader.scale, all.reader.languages.as_str()), (3, "eng+deu"));
    let parser = all.omniparser.unwrap();
    assert_eq!(
        (parser.endpoint.as_str(), parser.timeout.as_secs(), parser.token),
        ("http://127.0.0.1:8000", 5, None)
    );

    let by_variable = detection("", &[("DESKHAND__CONTROL_BACKEND", "at-spi, ocr")]).unwrap();
    assert_eq!((by_variable.tree, by_variable.ocr), (true, OcrUse::Always));

    for (text, expected) in [
        (
            "control_backend = [\"omniparser\"]\n",
            "`omniparser.endpoint` cannot be used: `control_backend` names \"omniparser\", but no server is configured; \
             set it to the address of your server, such as \"http://127.0.0.1:8000\"",
        ),
        (
            "control_backend = []\n",
            "`control_backend` cannot be used: the list is empty, so no element would be found; \
             name \"at-spi\", \"ocr\" or \"omniparser\"",
        ),
        (
            "[detection]\nmerge_iou = 1.5\n",
            "`detection.merge_iou` cannot be used: 1.5 is not between 0 and 1; use a fraction such as 0.5",
        ),
        (
            "control_backend = [\"omniparser\"]\n[omniparser]\nendpoint = \"http://x\"\ntoken_env = \"NO_SUCH_TOKEN\"\n",
            "`omniparser.token_env` cannot be used: the environment variable NO_SUCH_TOKEN is not set; \
             set it to the token of the server",
        ),
    ] {
        assert_eq!(detection(text, &[]).unwrap_err(), expected);
    }
    check_error(
        "control_backend = [\"uia\"]\n",
        &[],
        "`control_backend[0]` in [dir]/config.toml:1 is \"uia\", but it must be one of \"at-spi\", \"ocr\", \
         \"omniparser\"\nhelp: `deskhand config explain control_backend` describes it",
    );
    check_error(
        "",
        &[("DESKHAND__CONTROL_BACKEND", "at-spi,omniparse")],
        "`control_backend[1]` in the environment variable DESKHAND__CONTROL_BACKEND is \"omniparse\", but it must be \
         one of \"at-spi\", \"ocr\", \"omniparser\"\nhelp: did you mean \"omniparser\"?",
    );
}

#[test]
fn a_rule_with_a_misspelt_name_is_an_error() {
    let check = |rule: &str, expected: Option<&str>| {
        let text = format!("[[policy.rules]]\ndecision = \"deny\"\n{rule}\n");
        let problem = load_text(&text, &[]).err();
        match expected {
            None => assert_eq!(problem, None, "{rule}"),
            Some(part) => {
                assert!(problem.as_ref().is_some_and(|text| text.contains(part)), "{rule}: {problem:?}");
            }
        }
    };
    check("tool = \"type_text|press_keys\"", None);
    check("tool = \"click_*\"\ndoes = \"press\"\nfrom = \"outside\"", None);
    check("tool = \"run_command\"", None);
    check("tool = \"type_txet\"\nreason = \"by hand\"", Some("rule 1 (“by hand”) names `type_txet`"));
    check("tool = \"type_text|press_kyes\"", Some("did you mean `press_keys`?"));
    check("does = \"typ\"", Some("did you mean `type`?"));
    check("from = \"outsied\"", Some("did you mean `outside`?"));
    check("tool = \"delegate_subtask\"\nlabel = \"shel\"", Some("did you mean `shell`?"));
    // A program may add tools to those that are known here.
    check("tool = \"water_the_flowers\"", None);
}

#[test]
fn names_in_quotes_are_explained_with_a_variable_that_works() {
    let loaded = load_text("", &[]).unwrap();
    let variable = |key: &str| explain(&loaded, key).unwrap().environment;
    assert_eq!(variable("prices.\"qwen\".prompt").as_deref(), Some("DESKHAND__PRICES__QWEN__PROMPT"));
    let set = load_text(
        "",
        &[("DESKHAND__PRICES__QWEN__PROMPT", "1"), ("DESKHAND__PRICES__QWEN__COMPLETION", "2")],
    );
    assert!(set.unwrap().config.prices.contains_key("qwen"));
    assert_eq!(variable("prices.\"Qwen-2.5\".prompt"), None);
    assert_eq!(variable("limits.steps_max").as_deref(), Some("DESKHAND__LIMITS__STEPS_MAX"));
    assert!(is_section_key("model") && !is_section_key("model.base_url"));
    assert!(keys_below("model").unwrap().contains(&"model.base_url".to_owned()));
}
