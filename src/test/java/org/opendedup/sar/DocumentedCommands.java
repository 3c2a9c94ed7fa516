package org.opendedup.sar;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.CheckCommand;
import org.opendedup.sar.sdfs.cli.MkfsCommand;
import org.opendedup.sar.sdfs.cli.MkfsProgram;
import org.opendedup.sar.sdfs.cli.MountCommand;
import org.opendedup.sar.sdfs.cli.PluginCommand;
import org.opendedup.sar.sdfs.cli.SdfsCli;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.daemon.DaemonCommand;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import org.opendedup.sar.sdfs.cli.daemon.MountArguments;
import org.opendedup.sar.sdfs.cli.mounts.MountHelperOptions;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Says whether command lines are those of the program, by the models of its commands; runs none. */
final class DocumentedCommands {
    private static final Pattern DEFAULT = Pattern.compile("Default: ([^ ,;]+)");
    private static final Pattern OPTION = Pattern.compile("--[a-z][a-z-]+");
    private static final String SDFSCLI = "sdfscli";
    private static final String MKFS = "mkfs.sdfs";
    /** Options of OpenDedup SDFS that the page about its plugin names. */
    private static final Set<String> THEIRS = Set.of("--chunkstore-class", "--cleanstore", "--dse-info");

    private final Map<String, CommandSpec> commands = new LinkedHashMap<>();
    private final Set<String> options = new HashSet<>();
    private final List<String> faults = new ArrayList<>();
    private final String scripts;

    DocumentedCommands() throws ReflectiveOperationException, IOException {
        var nowhere = new PrintWriter(new StringWriter());
        var environment = new Environment(Map.of(), nowhere, nowhere);
        for (Object command : List.of(
                new SdfsCli(environment),
                new MkfsCommand(environment, config -> {}),
                new CheckCommand(environment),
                new PluginCommand(environment),
                new MountCommand(environment, new FuseMountService(), DaemonCommand.class, DaemonProcess::start),
                // By its name: the simulator is no dependency of these tests when they are compiled.
                Class.forName("org.opendedup.sar.sim.SarSim")
                        .getDeclaredConstructor()
                        .newInstance())) {
            CommandSpec spec = new CommandLine(command).getCommandSpec();
            commands.put(spec.name(), spec);
            collect(spec);
        }
        // A command that mkfs.sdfs begins instead of itself.
        collect(new CommandLine(MkfsProgram.command(environment, "--recover")).getCommandSpec());
        options.addAll(THEIRS);
        var text = new StringBuilder();
        Path project = Commands.projectFolder();
        try (Stream<Path> files = Files.walk(project.resolve("scripts"));
                Stream<Path> packaged = Files.list(project.resolve("packaging/debian"))) {
            Stream<Path> units = packaged.filter(file -> file.toString().endsWith(".service"));
            for (Path script :
                    Stream.concat(files.filter(Files::isRegularFile), units).toList()) {
                text.append(Files.readString(script, StandardCharsets.ISO_8859_1));
            }
        }
        scripts = text.toString();
        OPTION.matcher(scripts).results().forEach(option -> options.add(option.group()));
    }

    private void collect(CommandSpec spec) {
        spec.options().forEach(option -> options.addAll(Arrays.asList(option.names())));
        spec.subcommands().values().forEach(below -> collect(below.getCommandSpec()));
    }

    /** Returns whether a command or a script has an option of this name, which begins with two hyphens. */
    boolean hasOption(String name) {
        return options.contains(name);
    }

    /** Returns the text of all scripts, and of the units of systemd. */
    String scripts() {
        return scripts;
    }

    /** Returns the default of an option of mkfs.sdfs as its help says; null if it says none in one word. */
    @Nullable
    String defaultOf(String name) {
        OptionSpec option = command(MKFS).findOption(name);
        if (option == null) {
            return null;
        }
        Matcher found = DEFAULT.matcher(String.join(" ", option.description()));
        return found.find() ? found.group(1).replaceFirst("\\.$", "") : null;
    }

    /** @throws IllegalArgumentException if a mount option, or one of several separated by commas, is not known */
    void checkMountOptions(String text) {
        String left = MountHelperOptions.without(text);
        for (String option : left.isEmpty() ? new String[0] : left.split(",")) {
            new MountArguments().checkOption(option, new FuseMountService());
        }
    }

    /**
     * Returns what is wrong with a line.
     *
     * @param isSpan whether it stands between backticks, where the words before a subcommand of sdfscli may be left out
     * @return empty also if the line has no command of ours
     */
    List<String> faults(String line, boolean isSpan) {
        faults.clear();
        // What is quoted is one word; behind a pipe begins another command.
        for (String part : line.replaceAll("'[^']*'", "TEXT").split(";|&&|\\|(?= *(ssh|sdfscli) )")) {
            List<String> words = new ArrayList<>(Arrays.asList(part.strip().split("\\s+")));
            words.removeIf(word -> word.isEmpty() || word.equals("sudo") || word.matches("[A-Z_]+=.*"));
            if (words.isEmpty()) {
                continue;
            }
            if (words.get(0).equals(SDFSCLI) && words.size() > 1 && words.get(1).equals("estimate")) {
                // Another program, without a volume.
                words.set(0, "sar-sim");
            }
            CommandSpec spec = commands.get(words.get(0).replaceFirst("^([^-]*/)?", ""));
            if (spec != null) {
                new Line(part.strip(), spec).check(words.subList(1, words.size()));
            } else if (isSpan
                    && words.size() > 1
                    && !words.get(0).equals("df")
                    && command(SDFSCLI).subcommands().containsKey(words.get(0))) {
                new Line(part.strip(), command(SDFSCLI)).check(words);
            }
        }
        return List.copyOf(faults);
    }

    private CommandSpec command(String name) {
        return Objects.requireNonNull(commands.get(name));
    }

    /** One command with its arguments. */
    private final class Line {
        private final String text;
        private CommandSpec spec;
        private int positions;

        Line(String text, CommandSpec spec) {
            this.text = text;
            this.spec = spec;
        }

        void check(List<String> arguments) {
            if (spec.name().equals(MKFS) && arguments.contains("--recover")
                    || text.contains("org.opendedup.sar.plugin.")
                    || !arguments.isEmpty() && arguments.get(0).equals("config")) {
                // Another command, and two of OpenDedup's.
                return;
            }
            for (int at = 0; at < arguments.size(); at++) {
                String word = arguments.get(at).replaceAll("^[\\[(]+", "").replaceFirst("[\\]),.]+$", "");
                if (word.equals("-o") && at + 1 < arguments.size()) {
                    checkMount(arguments.get(++at));
                } else if (word.startsWith("-") && word.length() > 1) {
                    OptionSpec option = option(word);
                    at += option != null && option.arity().min() > 0 && !word.contains("=") ? 1 : 0;
                } else if (!word.isEmpty() && !word.equals("|")) {
                    place(word);
                }
            }
        }

        private @Nullable OptionSpec option(String word) {
            String name = word.replaceFirst("[=\\[].*", "");
            for (CommandSpec at = spec; at != null; at = at.parent() == null ? null : at.parent()) {
                OptionSpec option = at.findOption(name);
                if (option != null) {
                    checkValue(option, word);
                    return option;
                }
            }
            fault("no option " + name);
            return null;
        }

        /** Checks values; a name in capitals stands for any. */
        private void checkValue(OptionSpec option, String word) {
            String given = word.contains("=") ? word.substring(word.indexOf('=') + 1) : "";
            for (String value : given.split("\\|")) {
                if (value.matches("[A-Z_,…\\[\\]]*")) {
                    continue;
                }
                try {
                    for (ITypeConverter<?> converter : option.converters()) {
                        converter.convert(value);
                    }
                } catch (Exception e) {
                    fault("no " + value + ": " + e.getMessage());
                }
                if (option.type().getSimpleName().equalsIgnoreCase("boolean") && !value.matches("true|false")) {
                    fault("no " + value + " for " + option.longestName());
                }
            }
        }

        private void checkMount(String mountOptions) {
            try {
                checkMountOptions(mountOptions);
            } catch (IllegalArgumentException e) {
                fault(e.getMessage());
            }
        }

        private void place(String word) {
            CommandLine below = spec.subcommands().get(word.replaceFirst("\\|.*", ""));
            if (below != null) {
                spec = below.getCommandSpec();
                positions = 0;
            } else if (spec.subcommands().isEmpty() || word.matches("[A-Z.…]+")) {
                positions++;
            } else if (spec.name().equals(SDFSCLI) && positions == 0) {
                // The volume.
                positions++;
            } else if (spec.positionalParameters().isEmpty() || spec.name().equals(SDFSCLI)) {
                fault("no command " + word);
            }
        }

        private void fault(@Nullable String what) {
            faults.add(text + ": " + spec.qualifiedName() + " has " + what);
        }
    }
}
