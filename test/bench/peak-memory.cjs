// Loaded before a program (`node -r`): says on its last line of stderr how much memory it held at most, in bytes.

process.on('exit', () => {
  process.stderr.write(`\n${process.resourceUsage().maxRSS * 1024}\n`);
});
