use cairn_gateway::Caps;

use super::*;

/// Returns whether a command line uses the server, and whether it uses the cluster, if environment
/// variables set both.
fn place(words: &[&str], flags: &[&str]) -> (bool, bool) {
    let both = ["cairn", "--server", "http://a", "--cluster", "c.toml"];
    let typed = Arguments::try_parse_from(both.iter().chain(words)).expect("valid");
    let meant = typed.resolved(|name| flags.contains(&name));
    (meant.server.is_some(), meant.cluster.is_some())
}

#[test]
fn explicit_server_or_cluster_flag_overrides_default_of_command() {
    let (server, cluster) = ((true, false), (false, true));
    for words in [&["search", "x"][..], &["runs"], &["index", "u"], &["runs", "cancel"], &["mcp"], &["status"]] {
        assert_eq!(place(words, &[]), server, "{words:?}");
        assert_eq!(place(words, &["cluster"]), cluster, "{words:?}");
    }
    for words in [&["topology", "check"][..], &["keys", "list"], &["enqueue", "u"], &["doctor"], &["remove", "r"]] {
        assert_eq!(place(words, &[]), cluster, "{words:?}");
        assert_eq!(place(words, &["server"]), server, "{words:?}");
    }
    assert_eq!(place(&["repos", "--tenant", "acme"], &[]), cluster);
    assert_eq!(place(&["search", "x"], &["server", "cluster"]), (true, true));
}

/// Collects the commands and arguments that have no description, from a command and all its subcommands.
fn undescribed(command: &clap::Command, path: &str, found: &mut Vec<String>) {
    let path = format!("{path} {}", command.get_name());
    if command.get_about().is_none() {
        found.push(path.clone());
    }
    for argument in command.get_arguments() {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        if help.trim().is_empty() {
            found.push(format!("{path} {}", argument.get_id()));
        }
    }
    command.get_subcommands().for_each(|inner| undescribed(inner, &path, found));
}

#[test]
fn every_command_and_argument_has_a_description() {
    let mut command = Arguments::command();
    command.build();
    let mut found = Vec::new();
    undescribed(&command, "", &mut found);
    assert_eq!(found, Vec::<String>::new());
    let undescribed_argument = clap::Command::new("a").about("b").arg(clap::Arg::new("c").long("c"));
    undescribed(&undescribed_argument, "", &mut found);
    assert_eq!(found, [" a c"]);
}

#[test]
fn help_states_the_limits_of_a_service() {
    let help_of = |path: &[&str]| {
        let mut command = Arguments::command();
        command.build();
        let mut found = &mut command;
        for word in path {
            found = found.find_subcommand_mut(word).expect("a command");
        }
        found.render_long_help().to_string()
    };
    let Caps { edges, runs, tokens, .. } = Caps::OF_A_SERVICE;
    for (path, cap) in [
        (&["graph", "callers"][..], edges),
        (&["graph", "sample"], edges),
        (&["runs"], runs),
        (&["search"], tokens),
        (&["grep"], tokens),
    ] {
        let (help, limit) = (help_of(path), format!("at most {cap} with `--server`"));
        assert!(help.contains(&limit), "{path:?} does not contain `{limit}`: {help}");
    }
}
