//! Results in the words of an older session: what its version does not have is left out or becomes text.

use serde_json::{Value, json};

use crate::model::version::{V2025_03_26, V2025_06_18, V2025_11_25};

/// The members that a version added to items, results and the server's info.
const ADDED: [(&str, &str); 7] = [
    ("structuredContent", V2025_06_18),
    ("outputSchema", V2025_06_18),
    ("title", V2025_06_18),
    ("icons", V2025_11_25),
    ("websiteUrl", V2025_11_25),
    ("execution", V2025_11_25),
    ("completions", V2025_03_26),
];

/// Rewrites a result for a session of this version. Members of the author's values and schemas are not touched.
pub(super) fn in_words_of(version: &str, result: &mut Value) {
    let remove_added = |value: &mut Value| {
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, _| !ADDED.iter().any(|(added, since)| added == name && version < *since));
        }
    };
    remove_added(result);
    for described in ["serverInfo", "capabilities"] {
        result.get_mut(described).map(remove_added);
    }
    for list in ["tools", "prompts", "resources", "resourceTemplates"] {
        for item in elements(result, list) {
            remove_added(item);
            elements(item, "arguments").for_each(remove_added);
            if let Some(tool) = item.as_object_mut().filter(|_| list == "tools" && version < V2025_03_26) {
                tool.remove("annotations");
            }
        }
    }
    elements(result, "content").for_each(|block| rewrite_block(version, block));
    elements(result, "messages").filter_map(|message| message.get_mut("content")).for_each(|block| {
        rewrite_block(version, block);
    });
}

fn elements<'a>(of: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    of.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

/// A block of a type that the version does not have becomes a text.
fn rewrite_block(version: &str, block: &mut Value) {
    let text = match block["type"].as_str() {
        Some("resource_link") if version < V2025_06_18 => {
            let name = block["title"].as_str().or(block["name"].as_str()).unwrap_or_default();
            format!("{name}: {}", block["uri"].as_str().unwrap_or_default())
        }
        Some("audio") if version < V2025_03_26 => {
            format!(
                "(audio of type {}, which this client cannot receive)",
                block["mimeType"].as_str().unwrap_or_default()
            )
        }
        _ => return,
    };
    *block = json!({ "type": "text", "text": text });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_version(version: &str, mut result: Value) -> Value {
        in_words_of(version, &mut result);
        result
    }

    #[test]
    fn members_are_left_out_before_the_version_that_added_them() {
        let tool = json!({ "name": "add", "title": "Add", "icons": [], "annotations": { "readOnlyHint": true },
            "inputSchema": { "properties": { "title": { "type": "string", "title": "Title" } } }, "outputSchema": {} });
        let names = |version| {
            let tool = in_version(version, json!({ "tools": [tool] }))["tools"][0].take();
            assert_eq!(tool["inputSchema"]["properties"]["title"]["title"], "Title", "schemas are the author's");
            tool.as_object().expect("a tool").keys().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("2025-11-25"), "name title icons annotations inputSchema outputSchema");
        assert_eq!(names("2025-06-18"), "name title annotations inputSchema outputSchema");
        assert_eq!(names("2025-03-26"), "name annotations inputSchema");
        assert_eq!(names("2024-11-05"), "name inputSchema");
    }

    #[test]
    fn a_result_keeps_what_its_version_has() {
        let result = json!({ "content": [
            { "type": "text", "text": "{}" },
            { "type": "audio", "data": "AA==", "mimeType": "audio/wav" },
            { "type": "resource_link", "name": "readme", "uri": "file:///readme" },
        ], "structuredContent": { "title": "x" }, "isError": false });
        let types = |version| {
            let result = in_version(version, result.clone());
            let blocks = result["content"].as_array().expect("blocks").iter();
            let types = blocks.map(|block| block["type"].as_str().expect("a type").to_owned()).collect::<Vec<_>>();
            (types.join(" "), result.get("structuredContent").is_some())
        };
        assert_eq!(types("2025-06-18"), ("text audio resource_link".to_owned(), true));
        assert_eq!(types("2025-03-26"), ("text audio text".to_owned(), false));
        assert_eq!(types("2024-11-05"), ("text text text".to_owned(), false));
        let older = in_version("2024-11-05", result);
        assert_eq!(older["content"][1]["text"], "(audio of type audio/wav, which this client cannot receive)");
        assert_eq!(older["content"][2]["text"], "readme: file:///readme");
    }

    #[test]
    fn a_prompt_is_rewritten_too() {
        let link = json!({ "type": "resource_link", "name": "readme", "title": "Read me", "uri": "file:///readme" });
        let prompt = in_version("2025-03-26", json!({ "messages": [{ "role": "user", "content": link }] }));
        assert_eq!(prompt["messages"][0]["content"], json!({ "type": "text", "text": "Read me: file:///readme" }));
        let listed = json!({ "prompts": [{ "name": "greet", "arguments": [{ "name": "who", "title": "Who" }] }] });
        assert_eq!(in_version("2025-03-26", listed)["prompts"][0]["arguments"], json!([{ "name": "who" }]));
    }
}
