/**
 * The program of the keeper: what ends every process group when the owner is gone (P2).
 *
 * It is a shell program held as text, and not a file for Node, because text is there whether this module runs from
 * `src`, from `dist` or out of a bundle; because it starts in a millisecond and takes one megabyte where Node takes
 * forty of each, once per owner; and because it shares no fate with the owner's runtime. It is started with no
 * environment but a PATH for `cat`, `ps` and `sleep`.
 *
 * Its arguments are the owner's number and, for each group that a keeper before it kept, `GROUP START MARK`.
 * It reads lines, `add GROUP START MARK` (answered with GROUP: from then on the group is kept) and `drop GROUP START MARK`, and
 * waits for the end of its input, which the system brings about however the owner dies. Then it ends what is left: TERM,
 * a second of patience, KILL for a second. A group whose leader has another start is a later process's and is left alone.
 * With a group goes what has its mark in its environment, in whatever session (process-tree.ts).
 * Signals of a terminal or a supervisor do not reach it: it is a session of its own and ignores them.
 */
export const KEEPER_PROGRAM = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
marks=' '
patterns=''
strays=''

# start_of PID: when the process with that number began, nothing when there is none
start_of() {
  if [ -r /proc/self/stat ]; then
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    set -- \${stat##*) }
    echo "\${20}"
  else
    set -- $(ps -o lstart= -p "$1" 2>/dev/null)
    IFS=_
    echo "$*"
  fi
}

# is_ours GROUP START: true while the group has a member and its number was not given away
is_ours() {
  kill -s 0 -- "-$1" 2>/dev/null || return 1
  now=$(start_of "$1")
  [ -z "$now" ] || [ "$now" = "$2" ]
}

# find_strays: numbers of what has a mark of ours
find_strays() {
  strays=''
  [ -n "$patterns" ] && [ -d /proc/self ] || return 0
  # Of what is a zombie the system shows no environment.
  for file in $(grep -lsF $patterns /proc/[0-9]*/environ 2>/dev/null); do
    file=\${file#/proc/}
    strays="$strays \${file%/environ}"
  done
}

signal_all() {
  for entry in $groups; do
    is_ours "\${entry%%:*}" "\${entry#*:}" && kill -s "$1" -- "-\${entry%%:*}" 2>/dev/null
  done
  for stray in $strays; do kill -s "$1" "$stray" 2>/dev/null; done
}

is_any_left() {
  [ -z "$strays" ] || return 0
  for entry in $groups; do
    is_ours "\${entry%%:*}" "\${entry#*:}" && return 0
  done
  return 1
}

# keep GROUP START MARK
keep() {
  groups="$groups$1:$2 "
  [ -z "$3" ] || marks="$marks$3 "
}

[ $# -eq 0 ] || shift
for kept in "$@"; do keep $kept; done

while IFS=' ' read -r word group start mark; do
  case $word in
    add)
      keep "$group" "$start" "$mark"
      echo "$group" ;;
    drop)
      case $groups in
        *" $group:$start "*) groups="\${groups%% $group:$start *} \${groups#* $group:$start }" ;;
      esac
      case $marks in
        *" $mark "*) marks="\${marks%% $mark *} \${marks#* $mark }" ;;
      esac ;;
  esac
done

for mark in $marks; do patterns="$patterns -e SPLASHDOWN_GROUP=$mark"; done
find_strays
signal_all TERM
round=0
while [ $round -lt 40 ] && is_any_left; do
  [ $round -lt 20 ] || signal_all KILL
  sleep 0.05
  find_strays
  round=$((round + 1))
done
`;
