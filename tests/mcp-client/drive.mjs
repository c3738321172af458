// Drives every tool through the TypeScript SDK's client:
//   node drive.mjs stdio COMMAND ARG...    or    node drive.mjs http URL    (token in $MCP_TOKEN)
// The server serves a folder Vault with note.md, and lets structure be changed.
// The results come out as JSON: {protocolVersion, tools, calls: [{tool, text, isError}]}.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const note = 'Vault/note.md'
const calls = [
	['glob', { pattern: '*.md' }],
	['edit', { file_path: note, old_string: 'six', new_string: 'seven' }], // refused: not shown yet
	['grep', { pattern: 'tide', output_mode: 'content' }],
	['read', { file_path: note }],
	['edit', { file_path: note, old_string: 'six', new_string: 'seven' }],
	['write', { file_path: 'Vault/new.md', content: 'See [[note]].\n' }],
	['get_links', { file_path: note }],
	['search', { query: 'seven' }],
	['comment', { file_path: note, anchor_text: 'seven', comment: 'Sure?' }],
	['list_suggestions', {}],
	['tasks', { status: 'all' }],
	['move', { file_path: 'Vault/new.md', new_path: 'Vault/sub/newer.md' }],
	['delete', { file_path: 'Vault/sub/newer.md' }],
]

const [kind, target, ...args] = process.argv.slice(2)
const transport =
	kind === 'stdio'
		? new StdioClientTransport({ command: target, args, env: process.env, stderr: 'inherit' })
		: new StreamableHTTPClientTransport(new URL(target), {
				requestInit: { headers: { Authorization: `Bearer ${process.env.MCP_TOKEN}` } },
			})

const client = new Client({ name: 'relayfs-tests', version: '1' })
await client.connect(transport)
const tools = (await client.listTools()).tools.map((tool) => tool.name)
const done = []
for (const [name, args] of calls) {
	const result = await client.callTool({ name, arguments: args })
	done.push({ tool: name, text: result.content.map((block) => block.text).join('\n'), isError: result.isError === true })
}
const resource = await client.readResource({ uri: 'note:///' + note })
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name)
if (kind === 'http') await transport.terminateSession()
await client.close()
console.log(JSON.stringify({ server: client.getServerVersion()?.name, tools, calls: done, resource: resource.contents[0].text, prompts }))
