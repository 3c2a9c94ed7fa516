package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.console.ConsoleUsers;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jolokia.Role;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli console user}: adds, removes and lists the users of the console. */
@Command(
        name = "user",
        customSynopsis = {
            "sdfscli console user add NAME [--role=read|change]",
            "       sdfscli console user remove NAME",
            "       sdfscli console user list [--json]"
        },
        description = "Adds, removes and lists the users of the console; add gives an existing user a new password.")
final class ConsoleUserCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    ConsoleCommand parent;

    @Parameters(index = "0", paramLabel = "ACTION", description = "add, remove or list.")
    String action = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = "Name of the user.")
    @Nullable
    String user;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            defaultValue = "read",
            description = "What an added user may do: read, or change as well. Default: ${DEFAULT-VALUE}.")
    String role = "";

    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = Objects.requireNonNull(parent).cli();
        Environment environment = cli.environment();
        var users = new ConsoleUsers(environment.configDirectory().folder());
        switch (action) {
            case "add" -> environment.out().println(add(users));
            case "remove" -> {
                if (!users.remove(name())) {
                    throw new CommandFailedException("the console has no user '" + name() + "'");
                }
                environment.out().println("Removed " + name() + ".");
            }
            case "list" -> list(users, cli.json, environment);
            default -> throw usage("'" + action + "' is not add, remove or list");
        }
        return ExitCode.OK;
    }

    private String add(ConsoleUsers users) throws IOException {
        try {
            return users.add(name(), Role.of(role));
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    private static void list(ConsoleUsers users, boolean json, Environment environment) throws IOException {
        List<Map<String, String>> all = users.all().stream()
                .map(one -> Map.of("user", one.name(), "role", one.role().toString()))
                .toList();
        if (json) {
            environment.out().println(Json.pretty(Map.of("users", all)));
        } else {
            all.forEach(one -> environment.out().printf("%-32s may %s%n", one.get("user"), one.get("role")));
        }
    }

    private String name() {
        if (user == null) {
            throw usage("name the user: sdfscli console user " + action + " NAME");
        }
        return user;
    }

    private ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }
}
