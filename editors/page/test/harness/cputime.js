/** Returns the CPU time of this process in milliseconds. It does not include other programs. */
export const busyMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
