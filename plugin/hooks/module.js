// After each answer of the main thread: asks `launch turn` whether to clear or compact this session, and does so.
// When the session is to be compacted: asks Memory Keeper's server what takes the place of the conversation.
// Anything else (no Python, no server, no answer in time, an odd one) means that there is nothing to do: Claude Code's
// own compaction runs, and nobody sees an error.

const SERVER = 'plugin:memory-keeper:keeper'
const PATIENCE = 8000 // milliseconds for the server
const LAST = 24 // messages it is shown
const LONGEST = 4000 // characters of each text in them

const figures = async $ => {
  const { context } = await $.session.usage() // as the host counts; no tokens before the first response
  return { session: await $.session.id(), window: context.window ?? 0, tokens: context.tokens ?? 0, model: await $.session.model() }
}

const ask = async $ => {
  const { session, window, tokens, model } = await figures($)
  const env = { CLAUDE_PROJECT_DIR: await $.session.root() } // as hooks have it: no Python of the project's is run
  const given = [session, window, tokens, model].map(String)
  const { stdout } = await $.process.run([`${$.plugin.root}/plugin/launch`, 'turn', ...given], { env })
  return stdout.trim() ? JSON.parse(stdout) : {}
}

// A repository may bring a command of the same name, which would be run in the place of Claude Code's own.
const run = async ($, command) => {
  const named = (await $.command.list()).filter(one => one.name === command)
  if (named.length === 1 && named[0].source === 'builtin') return $.command.run({ command })
  return $.ui.log(`Memory Keeper did not ${command} the context: there is a command named ${command} that is not Claude Code's own.`)
}

const cut = text => text.length > LONGEST ? `${text.slice(0, LONGEST / 2)}\n…\n${text.slice(-LONGEST / 2)}` : text

const shorten = value => {
  if (typeof value === 'string') return cut(value)
  if (Array.isArray(value)) return value.slice(0, 50).map(shorten)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).slice(0, 50).map(([name, one]) => [name, shorten(one)]))
}

const show = ({ role, text, toolUses, toolResults }) => ({
  role,
  text: cut(text),
  toolUses: toolUses.map(({ tool_use_id, tool, input }) => ({ tool_use_id, tool, input: shorten(input) })),
  toolResults: toolResults?.map(({ tool_use_id, text, isError }) => ({ tool_use_id, text: cut(text), isError })),
})

// What the server answers: {}, {skip}, {compact: {text, keep}}, or {instructions} for Claude Code's own summarizer
const consult = async ($, e, replaces) => {
  const messages = replaces === false ? [] : e.messages.slice(-LAST).map(show)
  const question = { ...(await figures($)), trigger: e.trigger, instructions: e.instructions ?? '', messages }
  let timer
  const late = new Promise((_, refuse) => { timer = setTimeout(() => refuse(new Error('late')), PATIENCE) })
  const called = $.mcp.call(SERVER, 'handoff', question)
  const { content, isError } = await Promise.race([called, late]).finally(() => clearTimeout(timer))
  return isError ? {} : JSON.parse(content[0].text)
}

// No message that is handed back keeps its handle but the prompt that waits for an answer: `--resume` would bring the
// others back twice, and with them the conversation that is gone.
const build = ({ text, keep }, messages) => ({
  messages: [{ role: 'user', text, toolUses: [] }, ...keep.map(one => one.at === undefined ? one : messages.at(one.at))],
})

export const register = on => {
  let latest // the turn of the main thread that began last
  let replaces // whether compactions are ours to answer; not known before the first turn is over
  let waiting = false // a command of ours runs as soon as the session is idle
  let late = false // and the host has compacted meanwhile

  on('turn.start', ($, e, next) => {
    if (e.agentId === undefined) latest = e.turnId
    return next(e)
  })

  on('turn.complete', ($, e, next) => {
    const obey = async answer => {
      replaces = answer?.replaces === true
      // a prompt that waited has begun a turn meanwhile: that one asks again when it ends
      if (!['clear', 'compact'].includes(answer?.run) || latest !== e.turnId) return
      waiting = true
      await run($, answer.run).finally(() => { waiting = late = false })
    }
    // not awaited: the next turn would wait for the answer
    if (e.agentId === undefined && e.reason === 'answer') ask($).then(obey).catch(() => {})
    return next(e)
  })

  on('session.compact', async ($, e, next) => {
    if (e.agentId !== undefined) return next(e)
    if (replaces !== false && waiting && late) return { skip: 'Memory Keeper: it was compacted a moment ago' }
    late = replaces !== false && waiting && e.trigger === 'auto'
    const { skip, compact, instructions } = (await consult($, e, replaces).catch(() => ({}))) ?? {}
    if (typeof skip === 'string' && e.trigger === 'precompute') return { skip }
    if (typeof compact?.text === 'string' && Array.isArray(compact.keep)) return build(compact, e.messages)
    // what a hook says to the summarizer is shown to the user, and the model reads it; this is not
    if (typeof instructions === 'string') return next({ ...e, instructions: [e.instructions, instructions].filter(Boolean).join('\n\n') })
    return next(e)
  })
}
