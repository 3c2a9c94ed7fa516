package org.opendedup.sar.packaging;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Completion of a command for fish, from its model: names of subcommands, options, and their values. */
final class FishCompletion {
    private final String name;
    private final StringBuilder text = new StringBuilder();

    FishCompletion(String name) {
        this.name = name;
    }

    String text() {
        return text.toString();
    }

    /** Adds a command that is run by its own name. */
    void add(CommandLine command) {
        add(command, List.of());
    }

    /** @param words the subcommands that lead to the command */
    private void add(CommandLine command, List<String> words) {
        CommandSpec spec = command.getCommandSpec();
        for (OptionSpec option : spec.options()) {
            if (!option.hidden() && !option.inherited()) {
                option(option, words);
            }
        }
        List<String> below = new ArrayList<>(command.getSubcommands().keySet());
        command.getSubcommands().forEach((word, line) -> {
            if (!line.getCommandSpec().usageMessage().hidden()) {
                subcommand(word, line.getCommandSpec(), words, below);
                List<String> path = new ArrayList<>(words);
                path.add(word);
                add(line, path);
            }
        });
    }

    /** @param others the subcommands of which none has been named yet */
    private void subcommand(String word, CommandSpec spec, List<String> words, List<String> others) {
        String unnamed = "not __fish_seen_subcommand_from " + String.join(" ", others);
        String condition = words.isEmpty() ? unnamed : seen(words) + "; and " + unnamed;
        line("-f -n " + quoted(condition) + " -a " + quoted(word)
                + description(spec.usageMessage().description()));
    }

    private void option(OptionSpec option, List<String> words) {
        var parts = new StringJoiner(" ");
        if (!words.isEmpty()) {
            parts.add("-n " + quoted(seen(words)));
        }
        for (String spelled : option.names()) {
            boolean isLong = spelled.startsWith("--");
            parts.add((isLong ? "-l " : spelled.length() == 2 ? "-s " : "-o ") + spelled.substring(isLong ? 2 : 1));
        }
        if (option.arity().max() > 0) {
            List<String> values = new ArrayList<>();
            if (option.completionCandidates() != null) {
                option.completionCandidates().forEach(values::add);
            } else if (option.type().isEnum()) {
                for (Object value : option.type().getEnumConstants()) {
                    values.add(value.toString());
                }
            }
            parts.add(values.isEmpty() ? "-r" : "-x -a " + quoted(String.join(" ", values)));
        }
        line(parts + description(option.description()));
    }

    private static String seen(List<String> words) {
        var all = new StringJoiner("; and ");
        words.forEach(word -> all.add("__fish_seen_subcommand_from " + word));
        return all.toString();
    }

    /** Returns the first sentence of a description as fish shows it beside a word. */
    private static String description(String[] lines) {
        String all =
                String.join(" ", lines).replace("%n", " ").replace("%%", "%").strip();
        String first = all.replaceFirst("(?s)[.:](\\s.*)?$", "");
        return first.isEmpty() ? "" : " -d " + quoted(first);
    }

    private void line(String rest) {
        text.append("complete -c ").append(name).append(' ').append(rest).append('\n');
    }

    private static String quoted(String word) {
        return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
