# Argument: a prefix for files.
# pipes, subshells, here documents, command substitution, background jobs, traps, functions
n=0
seq 1 2000 | while read x; do echo $((x * x % 97)); done | sort -n | uniq -c | sort -rn | head -5
f() { echo "f $(echo "$1" | tr a-z A-Z) $(cat <<END
here $1
END
)"; }
f one; f two | sed 's/here/there/'
(cd /; pwd; exit 3); echo "sub $?"
for i in 1 2 3; do (sleep 0.0$i; echo "job $i" >"$1.$i") & done; wait
cat "$1".1 "$1".2 "$1".3
trap 'echo usr1' USR1; kill -USR1 $$; 
files=$(ls / | wc -l); [ "$files" -gt 3 ] && echo many
i=0; while [ $i -lt 300 ]; do i=$((i+1)); case $i in *7) n=$((n+i));; esac; done; echo $n
exec echo the end
