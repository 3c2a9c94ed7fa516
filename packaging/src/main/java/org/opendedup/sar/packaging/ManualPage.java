package org.opendedup.sar.packaging;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.IParamLabelRenderer;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * A page of the manual (man(7)), from the model of a command, from which its help comes too. picocli's own generator
 * writes AsciiDoc, which needs Ruby to become a page.
 */
final class ManualPage {
    /** No line of the help is wrapped; a page is filled by its reader's width. */
    private static final int WIDTH = 4000;

    /** Text that its author has laid out: columns, or indented. */
    private static final Pattern LAID_OUT = Pattern.compile("\\s.*|.*\\S {2,}\\S.*");

    private final CommandLine command;
    private final String name;
    private final String title;
    private final List<String> others;
    private final StringBuilder page = new StringBuilder();

    /**
     * @param title date and source of the page, in quotes
     * @param others names of the pages to refer to
     */
    ManualPage(CommandLine command, String name, String title, List<String> others) {
        this.command = command;
        this.name = name;
        this.title = title;
        this.others = others;
    }

    /** @param instead commands that an option begins instead of this one: sections of the page */
    String text(List<CommandLine> instead) {
        command.setUsageHelpWidth(WIDTH);
        CommandSpec spec = command.getCommandSpec();
        macro("TH " + name.toUpperCase(Locale.ROOT) + " 8 " + title + " \"System administration\"");
        // Words of commands are not hyphenated, and lines not stretched.
        macro("nh");
        macro("ad l");
        macro("SH NAME");
        line(name + " \\- " + escaped(firstSentence(spec)));
        macro("SH SYNOPSIS");
        laidOut(List.of(command.getHelp().synopsis(0).strip().split("\\n\\s*")));
        macro("SH DESCRIPTION");
        blocks(command.getHelp().description());
        arguments(command, "SH");
        List<CommandLine> below = new ArrayList<>(command.getSubcommands().values());
        below.addAll(instead);
        if (!below.isEmpty()) {
            macro("SH COMMANDS");
            below.forEach(this::subcommand);
        }
        notes(command);
        macro("SH SEE ALSO");
        line(others.stream()
                .sorted()
                .map(other -> "\\fB" + escaped(other) + "\\fR(8)")
                .collect(Collectors.joining(", ")));
        return page.toString();
    }

    /** Returns the end of the line NAME: one line, without its full stop. */
    private static String firstSentence(CommandSpec spec) {
        String[] description = spec.usageMessage().description();
        String first = Arrays.stream(description)
                .filter(text -> !text.isBlank())
                .findFirst()
                .orElse("");
        String sentence = first.replaceFirst("[.:](\\s.*)?$", "").strip();
        return sentence.substring(0, 1).toLowerCase(Locale.ROOT) + sentence.substring(1);
    }

    private void subcommand(CommandLine below) {
        CommandSpec spec = below.getCommandSpec();
        if (spec.usageMessage().hidden() || spec.name().equals("help")) {
            return;
        }
        below.setUsageHelpWidth(WIDTH);
        Arrays.stream(below.getHelp().synopsis(0).strip().split("\\n\\s*"))
                .filter(text -> !text.isBlank())
                .forEach(text -> macro("SS " + quoted(text)));
        blocks(below.getHelp().description());
        arguments(below, "TP");
        notes(below);
        below.getSubcommands().values().forEach(this::subcommand);
    }

    /** Writes parameters and options. Those that all commands inherit are told once. */
    private void arguments(CommandLine of, String heading) {
        CommandSpec spec = of.getCommandSpec();
        boolean isPage = heading.equals("SH");
        List<PositionalParamSpec> parameters = spec.positionalParameters().stream()
                .filter(parameter -> !parameter.hidden())
                .toList();
        List<OptionSpec> options = spec.options().stream()
                .filter(option -> !option.hidden() && option.group() == null)
                .filter(option -> isPage || !option.inherited() && !option.usageHelp() && !option.versionHelp())
                .toList();
        if (isPage && !(parameters.isEmpty() && options.isEmpty())) {
            macro("SH OPTIONS");
        }
        Help help = of.getHelp();
        IParamLabelRenderer labels = help.parameterLabelRenderer();
        for (PositionalParamSpec parameter : parameters) {
            String label = labels.renderParameterLabel(parameter, Ansi.OFF, Collections.emptyList())
                    .toString();
            item(
                    "\\fI" + escaped(label.strip()) + "\\fR",
                    text(help.createDefaultParameterRenderer()
                            .render(parameter, labels, Help.defaultColorScheme(Ansi.OFF))));
        }
        options.forEach(option -> option(help, option));
        for (ArgGroupSpec group : spec.argGroups()) {
            macro("SS "
                    + quoted(
                            String.format(Objects.toString(group.heading(), "")).strip()));
            group.allOptionsNested().stream()
                    .filter(option -> !option.hidden())
                    .forEach(option -> option(help, option));
        }
    }

    private void option(Help help, OptionSpec option) {
        IParamLabelRenderer labels = help.parameterLabelRenderer();
        String label = labels.renderParameterLabel(option, Ansi.OFF, Collections.emptyList())
                .toString();
        if (!option.longestName().startsWith("--")) {
            label = label.replaceFirst("^=", " ");
        }
        String names = Arrays.stream(option.names())
                .map(text -> "\\fB" + escaped(text) + "\\fR")
                .collect(Collectors.joining(", "));
        item(
                names + (label.isBlank() ? "" : "\\fI" + escaped(label) + "\\fR"),
                text(help.createDefaultOptionRenderer().render(option, labels, Help.defaultColorScheme(Ansi.OFF))));
    }

    /** Returns the description in the rows of an option: their last column. */
    private static String text(Ansi.Text[][] rows) {
        return Arrays.stream(rows)
                .map(row -> row[row.length - 1].toString().strip())
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(" "));
    }

    private void item(String term, String text) {
        macro("TP");
        line(term);
        line(text.isEmpty() ? "\\&" : escaped(text));
    }

    /** Writes what follows the options in the help, as environment, exit codes and examples. */
    private void notes(CommandLine of) {
        UsageMessageSpec help = of.getCommandSpec().usageMessage();
        boolean isInherited = of != command
                && Arrays.equals(
                        help.footer(), command.getCommandSpec().usageMessage().footer());
        if (help.footer().length > 0 && !isInherited) {
            if (of == command) {
                macro("SH NOTES");
            }
            blocks(of.getHelp().footer());
        }
    }

    /** Writes paragraphs, which empty lines divide; lines that are laid out stay as they are. */
    private void blocks(String text) {
        List<String> laidOut = new ArrayList<>();
        boolean begins = true;
        for (String line : text.split("\\n")) {
            boolean keeps = LAID_OUT.matcher(line).matches() && !line.isBlank();
            if (!keeps && !laidOut.isEmpty()) {
                macro("PP");
                laidOut(laidOut);
                laidOut.clear();
                begins = true;
            }
            if (keeps) {
                laidOut.add(line);
            } else if (line.isBlank()) {
                begins = true;
            } else {
                if (begins) {
                    macro("PP");
                }
                begins = false;
                line(escaped(line.strip()));
            }
        }
        if (!laidOut.isEmpty()) {
            macro("PP");
            laidOut(laidOut);
        }
    }

    private void laidOut(List<String> lines) {
        macro("nf");
        lines.forEach(text -> line(escaped(text)));
        macro("fi");
    }

    private void macro(String text) {
        page.append('.').append(text).append('\n');
    }

    /** Adds a line of text, which is no macro whatever it begins with. */
    private void line(String text) {
        page.append(text.startsWith(".") || text.startsWith("'") ? "\\&" : "")
                .append(text)
                .append('\n');
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\e")
                .replace("-", "\\-")
                .replace("'", "\\(aq")
                .replace("`", "\\(ga");
    }

    /** Returns the text as one argument of a macro. */
    private static String quoted(String text) {
        return "\"" + escaped(text).replace("\"", "\\(dq") + "\"";
    }
}
