# Completion of deptree for bash. Written by python -m deptree_cli.share; a change here would be lost.

# options: all of a command's; taking: those with a value; arguments: the words for each argument (- is a file);
# words: what may stand for the value of the option $1.
_deptree_command() {
    options='' taking='' arguments=() words=''
    case $2 in
        sample)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --label-scores -k --size --sampler --unique --seed -o --output --format --header --no-header --deps --sent-id-format -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error --label-scores -k --size --sampler --seed -o --output --format --deps --sent-id-format'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                --label-scores) words='-' ;;
                --sampler) words='auto elimination wilson-marginal wilson-reject colbourn wilson wilson-rc' ;;
                -o | --output) words='-' ;;
                --format) words='conllu jsonl npz' ;;
                --deps) words='drop basic keep' ;;
            esac
            ;;
        swor)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --label-scores -k --size --mass --sampler --labelled --seed -o --output --format --header --no-header --deps --sent-id-format -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error --label-scores -k --size --mass --sampler --seed -o --output --format --deps --sent-id-format'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                --label-scores) words='-' ;;
                --sampler) words='auto trie beam zmigrod' ;;
                -o | --output) words='-' ;;
                --format) words='conllu jsonl' ;;
                --deps) words='drop basic keep' ;;
            esac
            ;;
        estimate)
            options='--quantity -o --output --header --no-header -q --quiet -h --help'
            taking='--quantity -o --output'
            arguments=('-')
            case $1 in
                --quantity) words='non_projective_arcs depth dependency_length arcs' ;;
                -o | --output) words='-' ;;
            esac
            ;;
        decode)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --label-scores --method --k-best --calibration --plot -o --output --format --header --no-header --deps --sent-id-format -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error --label-scores --method --k-best --calibration --plot -o --output --format --deps --sent-id-format'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                --label-scores) words='-' ;;
                --method) words='mst mbr' ;;
                --calibration) words='-' ;;
                --plot) words='-' ;;
                -o | --output) words='-' ;;
                --format) words='conllu jsonl npz' ;;
                --deps) words='drop basic keep' ;;
            esac
            ;;
        marginals)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --label-scores -o --output --format --header --no-header -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error --label-scores -o --output --format'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                --label-scores) words='-' ;;
                -o | --output) words='-' ;;
                --format) words='conllu jsonl npz' ;;
            esac
            ;;
        partition)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --summary -o --output --header --no-header -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error -o --output'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                -o | --output) words='-' ;;
            esac
            ;;
        expect)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --other --alpha --features --target --grad -o --output --header --no-header -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error --other --alpha --features --target -o --output'
            arguments=('entropy renyi kl cross-entropy risk attachment features covariance ge' '-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                --other) words='-' ;;
                --features) words='-' ;;
                --target) words='-' ;;
                -o | --output) words='-' ;;
            esac
            ;;
        diff)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet -k --size --arcs --seed -o --output --header --no-header -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error -k --size --arcs --seed -o --output'
            arguments=('-' '-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                -o | --output) words='-' ;;
            esac
            ;;
        check-bias)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet -k --size --sampler --samples --alpha --seed -o --output --header --no-header -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error -k --size --sampler --samples --alpha --seed -o --output'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                --sampler) words='auto elimination wilson-marginal wilson-reject colbourn wilson wilson-rc' ;;
                --samples) words='-' ;;
                -o | --output) words='-' ;;
            esac
            ;;
        inspect)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --json -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
            esac
            ;;
        show)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --label-scores --sentence -k --size --seed --threshold --text --heat-map -o --output -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error --label-scores --sentence -k --size --seed --threshold --heat-map -o --output'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                --label-scores) words='-' ;;
                --heat-map) words='-' ;;
                -o | --output) words='-' ;;
            esac
            ;;
        convert)
            options='--conllu --from --orient --root --scale --labels --lengths --multi-root --temperature --fix-heads --nan-forbids --jobs --engine --scheduler --shard --on-error -q --quiet --label-scores --to --to-orient --to-root --to-scale --to-labels -o --output --header --no-header -h --help'
            taking='--conllu --from --orient --root --scale --labels --lengths --temperature --jobs --engine --scheduler --shard --on-error --label-scores --to --to-orient --to-root --to-scale --to-labels -o --output'
            arguments=('-')
            case $1 in
                --conllu) words='-' ;;
                --from) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --orient) words='head-dep dep-head' ;;
                --root) words='first last diagonal' ;;
                --scale) words='weight log' ;;
                --labels) words='-' ;;
                --lengths) words='-' ;;
                --engine) words='processes threads dask' ;;
                --on-error) words='fail skip' ;;
                --label-scores) words='-' ;;
                --to) words='supar diaparser hanlp supar-probs stanza trankit udpipe2 natasha allennlp spacy torch-struct synjax treesample' ;;
                --to-orient) words='head-dep dep-head' ;;
                --to-root) words='first last diagonal' ;;
                --to-scale) words='weight log' ;;
                --to-labels) words='-' ;;
                -o | --output) words='-' ;;
            esac
            ;;
        dump)
            options='--model -o --output --sentences --label-scores --labels --input --batch --header --no-header -q --quiet -h --help'
            taking='--model -o --output --sentences --label-scores --labels --input --batch'
            arguments=('natasha stanza supar spacy hanlp' '-')
            case $1 in
                -o | --output) words='-' ;;
                --sentences) words='-' ;;
                --label-scores) words='-' ;;
                --labels) words='-' ;;
                --input) words='text conllu' ;;
            esac
            ;;
    esac
}

# How many arguments stand before the word at the cursor, what follows an option being its value.
_deptree_arguments_before() {
    local index word
    count=0
    for ((index = 2; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $word == -?* ]]; then
            [[ ${COMP_WORDS[index + 1]} == '=' ]] && ((index += 2)) && continue
            [[ " $taking " == *" $word "* ]] && ((index++))
        else
            ((count++))
        fi
    done
}

_deptree() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local options taking arguments words count
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words='sample swor estimate decode marginals partition expect diff check-bias inspect show convert dump --version -h --help'
    else
        # bash takes --option=word for three words
        if [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
        if [[ $word == '=' ]]; then word=''; fi
        _deptree_command "$before" "${COMP_WORDS[1]}"
        if [[ " $taking " == *" $before "* ]]; then
            :
        elif [[ $word == -* ]]; then
            words=$options
        else
            _deptree_arguments_before
            words=${arguments[count]:-}
        fi
    fi
    [[ $words == '-' ]] && return
    compopt +o default +o bashdefault 2> /dev/null
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}

complete -o bashdefault -o default -F _deptree deptree
