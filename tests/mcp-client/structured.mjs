// Calls every tool of the toolsets notes and content through the TypeScript SDK's
// client, which checks each structured result against the tool's output schema:
//   node structured.mjs stdio COMMAND ARG...    or    node structured.mjs http URL    (token in $MCP_TOKEN)
// With $MCP_ASK=no the client cannot ask its user, and only deletes. The server serves a folder Vault with note.md, board.canvas and books.base. The
// results come out as JSON: {tools, questions, calls: [{tool, structured, text, isError}]}.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const note = 'Vault/note.md'
const canvas = '{"nodes":[{"id":"a","type":"text","text":"Hi","x":0,"y":0,"width":9,"height":9}],"edges":[]}'
const everything = [
	['create_note', { path: 'Vault/new.md', content: 'See [[note]].\n', frontmatter: { tags: ['a/b'], n: 1.5, none: null, on: true } }],
	['read_note', { path: note }],
	['read_metadata', { path: 'Vault/new.md' }],
	['update_note', { path: note, content: 'The tide turns at noon.\n', frontmatter: { status: 'done' } }],
	['list_notes', { include_frontmatter: true }],
	['text_search', { query: 'tide' }],
	['property_search', { properties: { status: 'done' } }],
	['semantic_search', { query: 'when the tide turns', filters: { status: 'done' } }],
	['get_kiln_info', { detailed: true }],
	['search_content', { pattern: 'tide', entity_type: 'note' }],
	['read_content_lines', { entity_type: 'note', path: note }],
	['patch_content', { entity_type: 'note', path: note, old_string: 'noon', new_string: 'midnight' }],
	['patch_content', { entity_type: 'note', path: note, old_string: 'e', new_string: 'x' }], // fails: not unique
	['get_content', { entity_type: 'canvas', path: 'Vault/board.canvas' }],
	['replace_content', { entity_type: 'canvas', path: 'Vault/board.canvas', content: canvas }],
	['replace_content', { entity_type: 'base', path: 'Vault/books.base', content: '- no mapping\n' }], // fails
	['delete_note', { path: 'Vault/new.md' }],
	['outline', { path: note }],
	['append', { path: note, content: 'The end.' }],
	['set_properties', { notes: [{ path: note }], set: { status: 'new' } }],
	['find_links', { kind: 'orphans' }],
	['tags', {}],
	['validate', {}],
]

const deletions = [
	['create_note', { path: 'Vault/new.md', content: 'text' }],
	['delete_note', { path: note }],
	['delete_note', { path: note, confirm: true }],
]

const [kind, target, ...args] = process.argv.slice(2)
const transport =
	kind === 'stdio'
		? new StdioClientTransport({ command: target, args, env: process.env, stderr: 'inherit' })
		: new StreamableHTTPClientTransport(new URL(target), {
				requestInit: { headers: { Authorization: `Bearer ${process.env.MCP_TOKEN}` } },
			})
const asks = process.env.MCP_ASK !== 'no'
const client = new Client({ name: 'relayfs-tests', version: '1' }, { capabilities: asks ? { elicitation: {} } : {} })
const questions = []
if (asks) {
	client.setRequestHandler(ElicitRequestSchema, async (request) => {
		questions.push(request.params.message)
		return { action: 'accept', content: { approve: true } }
	})
}
await client.connect(transport)
const tools = (await client.listTools()).tools
const done = []
for (const [name, args] of asks ? everything : deletions) {
	const result = await client.callTool({ name, arguments: args })
	const text = result.content.map((block) => block.text).join('\n')
	done.push({ tool: name, structured: result.structuredContent, text, isError: result.isError === true })
}
await client.close()
console.log(JSON.stringify({ tools: tools.map((t) => ({ name: t.name, schema: !!t.outputSchema })), questions, calls: done }))
