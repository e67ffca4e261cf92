// After each answer of the main thread: asks `launch turn` whether this session is to be cleared, and runs /clear if so.
// Anything else (no Python, no answer in time, an odd one) means that there is nothing to do: nobody sees an error.

const ask = async $ => {
  const { context } = await $.session.usage() // as the host counts; no tokens before the first response
  const given = [await $.session.id(), context.window ?? 0, context.tokens ?? 0, await $.session.model()]
  const env = { CLAUDE_PROJECT_DIR: await $.session.root() } // as hooks have it: no Python of the project's is run
  const { stdout } = await $.process.run([`${$.plugin.root}/plugin/launch`, 'turn', ...given.map(String)], { env })
  return JSON.parse(stdout)
}

// A repository may bring a command of the same name, which would be run in the place of Claude Code's own.
const clear = async $ => {
  const named = (await $.command.list()).filter(command => command.name === 'clear')
  if (named.length === 1 && named[0].source === 'builtin') return $.command.run({ command: 'clear' })
  return $.ui.log('Memory Keeper did not clear the context: there is a command named clear that is not Claude Code\'s own.')
}

export const register = on => {
  let latest // the turn of the main thread that began last

  on('turn.start', ($, e, next) => {
    if (e.agentId === undefined) latest = e.turnId
    return next(e)
  })

  on('turn.complete', ($, e, next) => {
    const obey = answer => {
      // a prompt that waited has begun a turn meanwhile: that one asks again when it ends
      if (answer?.run === 'clear' && latest === e.turnId) return clear($)
    }
    // not awaited: the next turn would wait for the answer
    if (e.agentId === undefined && e.reason === 'answer') ask($).then(obey).catch(() => {})
    return next(e)
  })
}
