use cairn_domain::ChunkKind;
use cairn_search::{Relation, TargetType};
use rmcp::model::Tool;
use serde_json::{Value, json};

use super::ToolSpec;
use super::table::{CHUNK_KINDS, RELATIONS, TARGET_TYPES, TOOLS};
use crate::mcp::arguments::Arguments;
use crate::schema_check::faults;

/// Clients read names, descriptions and input schemas in every session. Clients read the output schemas
/// only if they use structured content.
#[test]
fn tools_cost_few_tokens() {
    let count = |tools: &[Tool]| {
        let text = serde_json::to_string(tools).expect("tools are JSON");
        tiktoken_rs::o200k_base_singleton().encode_ordinary(&text).len()
    };
    let with_output: Vec<Tool> = TOOLS.iter().map(ToolSpec::to_tool).collect();
    let mut without_output = with_output.clone();
    without_output.iter_mut().for_each(|tool| tool.output_schema = None);
    let num_input = count(&without_output);
    let num_output = count(&with_output) - num_input;
    for tool in &with_output {
        let one = count(std::slice::from_ref(tool));
        println!("{}: {one} tokens with its output schema", tool.name);
    }
    println!(
        "tokens of o200k_base: {num_input} for names, descriptions and input schemas, {num_output} for output schemas"
    );
    assert!(num_input <= 2_500, "{num_input} tokens");
    assert!(num_output <= 3_000, "{num_output} tokens");
    for tool in TOOLS {
        assert!(tool.description.len() < 2_000, "{}", tool.name);
    }
}

#[test]
fn choices_equal_the_names_of_the_domain() {
    assert_eq!(CHUNK_KINDS.to_vec(), ChunkKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
    let targets = TargetType::ALL.iter().map(|target| target.as_str()).collect::<Vec<_>>();
    assert_eq!(TARGET_TYPES.to_vec(), targets);
    assert_eq!(RELATIONS.to_vec(), Relation::ALL.iter().map(|relation| relation.as_str()).collect::<Vec<_>>());
}

#[test]
fn alternative_names_are_not_parameters() {
    for tool in TOOLS {
        for other in tool.parameters.iter().flat_map(|parameter| parameter.also.iter().chain(&parameter.alias)) {
            assert!(tool.parameter(other).is_none(), "{} of {}", other, tool.name);
        }
    }
}

#[test]
fn schema_allows_no_other_properties() {
    let schema = ToolSpec::find("analyze_relationship").expect("a tool").schema();
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["properties"]["mode"]["enum"], json!(RELATIONS));
}

/// A client that checks its calls against the schema can use every accepted name of a parameter.
#[test]
fn schemas_contain_every_accepted_name() {
    let check = |tool: &str, call: Value| {
        let tool = ToolSpec::find(tool).expect("a tool");
        let schema = Value::Object(tool.schema());
        assert_eq!(faults(&schema, &schema, &call), Vec::<String>::new(), "{call}");
        let Value::Object(call) = call else { panic!("{call} is no call") };
        let _accepted = Arguments::read(tool, call).expect("an accepted call");
    };
    for subject in ["query", "target"] {
        for target_type in ["target_type", "type"] {
            check("search_code", json!({ subject: "x", target_type: "filename" }));
        }
    }
    for subject in ["target", "name"] {
        for mode in ["mode", "relation"] {
            check("analyze_relationship", json!({ subject: "x", mode: "callers" }));
        }
    }
    for target in ["path", "target"] {
        check("index_repository", json!({ target: "." }));
    }
    for tool in TOOLS {
        let schema = tool.schema();
        let accepted = tool.parameters.iter().flat_map(|parameter| parameter.alias.into_iter().chain([parameter.name]));
        for name in accepted {
            assert!(schema["properties"][name].is_object(), "{name} of {}", tool.name);
        }
    }
}

#[test]
fn schema_of_index_repository_has_the_documented_bounds() {
    let schema = ToolSpec::find("index_repository").expect("a tool").schema();
    let field = |name: &str| schema["properties"][name].clone();
    assert_eq!((&field("path")["type"], &field("path")["minLength"]), (&json!("string"), &json!(1)));
    for patterns in ["include_patterns", "exclude_patterns"] {
        let patterns = field(patterns);
        assert_eq!((&patterns["type"], &patterns["items"]), (&json!("array"), &json!({ "type": "string" })));
        assert_eq!(patterns["default"], json!([]));
    }
    let size = field("max_file_size");
    assert_eq!((&size["type"], &size["default"]), (&json!("integer"), &json!(1_048_576)));
    assert_eq!((&size["minimum"], &size["maximum"]), (&json!(0), &json!(10_485_760)));
}
