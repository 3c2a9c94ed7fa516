package org.opendedup.sar.packaging;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.CheckCommand;
import org.opendedup.sar.sdfs.cli.MkfsCommand;
import org.opendedup.sar.sdfs.cli.MkfsProgram;
import org.opendedup.sar.sdfs.cli.MountCommand;
import org.opendedup.sar.sdfs.cli.PluginCommand;
import org.opendedup.sar.sdfs.cli.SdfsCli;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.daemon.DaemonCommand;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import org.opendedup.sar.sim.EstimateProgram;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Writes manual pages and completions of all commands into a folder, laid out as the folder {@code share} of a prefix.
 */
public final class Manuals {
    private Manuals() {}

    /** @param arguments the folder, the script umount-helper, the version and the date of the pages */
    public static void main(String[] arguments) throws IOException {
        Path share = Path.of(arguments[0]);
        List<CommandLine> commands = commands(Path.of(arguments[1]));
        String release = arguments[2].replaceFirst("~.*", "");
        String title = "\"" + arguments[3] + "\" \"SAR for SDFS " + release + "\"";
        Path pages = Files.createDirectories(share.resolve("man/man8"));
        List<CommandLine> all = new ArrayList<>(commands);
        all.add(EstimateProgram.command());
        for (CommandLine command : all) {
            String name = fileName(command);
            List<String> others = all.stream()
                    .map(Manuals::fileName)
                    .filter(other -> !other.equals(name))
                    .toList();
            String page = new ManualPage(command, name, title, others).text(instead(command));
            Files.writeString(pages.resolve(name + ".8"), page);
        }
        complete(share, commands);
    }

    private static String fileName(CommandLine command) {
        return command.getCommandName().replace(' ', '-');
    }

    /** Returns the commands that users run, as {@link CommandRunner} runs them. */
    private static List<CommandLine> commands(Path unmountScript) throws IOException {
        var nowhere = new PrintWriter(Writer.nullWriter());
        var environment = new Environment(Map.of(), nowhere, nowhere);
        List<CommandLine> commands = new ArrayList<>();
        for (Object command : List.of(
                new MkfsCommand(environment, config -> {}),
                new MountCommand(environment, new FuseMountService(), DaemonCommand.class, DaemonProcess::start),
                new SdfsCli(environment),
                new CheckCommand(environment),
                new PluginCommand(environment))) {
            commands.add(CommandRunner.withHelp(command));
        }
        commands.add(unmount(unmountScript));
        return commands;
    }

    /**
     * Returns the command that an option of this command begins instead of it, with help of its own, if there is one.
     */
    private static List<CommandLine> instead(CommandLine command) {
        var nowhere = new PrintWriter(Writer.nullWriter());
        return command.getCommandSpec().userObject() instanceof MkfsCommand
                ? List.of(CommandRunner.withHelp(
                        MkfsProgram.command(new Environment(Map.of(), nowhere, nowhere), "--recover")))
                : List.of();
    }

    /** Returns the model of umount.sdfs, a script: its description is the comment at the script's head. */
    private static CommandLine unmount(Path script) throws IOException {
        List<String> comment = Files.readString(script)
                .lines()
                .skip(1)
                .takeWhile(line -> line.startsWith("#") && !line.contains("It needs no JVM"))
                .map(line -> line.replaceFirst("^# ?", ""))
                .toList();
        CommandSpec spec = CommandSpec.create().name("umount.sdfs");
        spec.usageMessage()
                .customSynopsis("umount.sdfs MOUNTPOINT [-flnrv] [-N NAMESPACE] [-t TYPE]")
                .description(comment.toArray(String[]::new));
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .paramLabel("MOUNTPOINT")
                .type(Path.class)
                .description("Where the volume is mounted.")
                .build());
        var flags = new LinkedHashMap<String, String>();
        flags.put("-l", "Remove the mount from its mount point, and do not wait: open files stay usable.");
        flags.put("-r", "If it is busy, make it read-only instead.");
        flags.put("-f", "Passed on to umount(8).");
        flags.put("-n", "Passed on to umount(8).");
        flags.put("-v", "Passed on to umount(8).");
        flags.forEach((name, text) ->
                spec.addOption(OptionSpec.builder(name).description(text).build()));
        spec.addOption(OptionSpec.builder("-N")
                .type(String.class)
                .paramLabel("NAMESPACE")
                .description("Unmount in that mount namespace.")
                .build());
        spec.addOption(OptionSpec.builder("-t")
                .type(String.class)
                .paramLabel("TYPE")
                .description("No effect: there is one type.")
                .build());
        return new CommandLine(spec);
    }

    /**
     * Returns the words of {@code sdfscli estimate}, which is no subcommand in the program, but one for who types it.
     */
    private static CommandSpec estimate() {
        CommandSpec program = EstimateProgram.command().getCommandSpec();
        CommandSpec words = CommandSpec.create().name("estimate");
        words.usageMessage().description(program.usageMessage().description());
        program.positionalParameters().stream()
                .map(parameter -> PositionalParamSpec.builder(parameter).build())
                .forEach(words::addPositional);
        // sdfscli has the others for all its commands.
        program.options().stream()
                .filter(option -> !option.usageHelp() && !option.longestName().equals("--json"))
                .map(option -> OptionSpec.builder(option).build())
                .forEach(words::addOption);
        return words;
    }

    /** Writes completions for bash, which zsh uses too, and for fish. */
    private static void complete(Path share, List<CommandLine> commands) throws IOException {
        Path bash = Files.createDirectories(share.resolve("bash-completion/completions"));
        Path fish = Files.createDirectories(share.resolve("fish/vendor_completions.d"));
        List<String> names = new ArrayList<>();
        for (CommandLine command : commands) {
            String name = command.getCommandName();
            names.add(name);
            if (command.getCommandSpec().userObject() instanceof SdfsCli) {
                command.addSubcommand(estimate());
            }
            CommandSpec spec = command.getCommandSpec();
            instead(command).stream()
                    .flatMap(other -> other.getCommandSpec().options().stream())
                    .filter(option -> spec.findOption(option.longestName()) == null)
                    .forEach(option -> spec.addOption(OptionSpec.builder(option).build()));
            Files.writeString(bash.resolve(name), AutoComplete.bash(name, command));
            var completion = new FishCompletion(name);
            completion.add(command);
            Files.writeString(fish.resolve(name + ".fish"), completion.text());
        }
        Path zsh = Files.createDirectories(share.resolve("zsh/vendor-completions"));
        Files.writeString(zsh.resolve("_sdfs"), """
                #compdef %s
                # The completions of bash serve zsh too. They are beside this file, also where a link leads here.
                autoload -Uz bashcompinit && bashcompinit
                # A command of bash that zsh lacks; it only says how file names are shown.
                (( $+functions[compopt] )) || compopt() { : }
                source "${${(%%):-%%x}:A:h}/../../bash-completion/completions/${words[1]:t}"
                _bash_complete -o default -F "_complete_${words[1]:t}"
                """.formatted(String.join(" ", names)));
    }
}
