#!/bin/sh
# Has the program `video_render` render a video, as a client of 2026-07-28 would, and follows the task to its end. The server may
# be killed and started again at any time: a request that fails is sent again.
set -eu

# rpc METHOD NAME PARAMS
rpc() {
    meta='"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities":
        { "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } }'
    curl --silent --show-error --retry 60 --retry-delay 1 --retry-all-errors http://127.0.0.1:8000/mcp \
        --header 'Content-Type: application/json' --header 'Accept: application/json, text/event-stream' \
        --header 'MCP-Protocol-Version: 2026-07-28' --header "Mcp-Method: $1" --header "Mcp-Name: $2" \
        --data "{ \"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"$1\", \"params\": { $3, \"_meta\": { $meta } } }" 2>/dev/null
}

# The text of a member of a message.
member() {
    printf '%s' "$2" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

call='"name": "render", "arguments": { "project": "intro" }'
state=$(member requestState "$(rpc tools/call render "$call")")
quality='"quality": { "action": "accept", "content": { "resolution": "four-k" } }'
task=$(rpc tools/call render "$call, \"requestState\": \"$state\", \"inputResponses\": { $quality }")
id=$(member taskId "$task")
echo "task $id"

while :; do
    task=$(rpc tasks/get "$id" "\"taskId\": \"$id\"")
    status=$(member status "$task")
    echo "$(date +%T) $status $(member statusMessage "$task")"
    case $status in
    working) ;;
    input_required)
        font='"font": { "action": "accept", "content": { "name": "Inter" } }'
        rpc tasks/update "$id" "\"taskId\": \"$id\", \"inputResponses\": { $font }" >/dev/null
        ;;
    *)
        printf '%s\n' "$task"
        exit
        ;;
    esac
    sleep 1
done
