package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.console.ConsoleServer;
import org.opendedup.sar.sdfs.cli.console.ConsoleUsers;
import org.opendedup.sar.sdfs.cli.console.ListenAddress;
import org.opendedup.sar.sdfs.cli.console.TlsKeys;
import org.opendedup.sar.sdfs.jolokia.Role;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sdfscli console}: serves the page of all volumes of the machine, until interrupted. */
@Command(
        name = "console",
        customSynopsis = {
            "sdfscli console [--listen=HOST:PORT] [--tls[=KEYSTORE]]",
            "       sdfscli console user add NAME [--role=read|change]",
            "       sdfscli console user remove NAME",
            "       sdfscli console user list [--json]"
        },
        description = {
            "Serves a page of all volumes of the machine, until interrupted.",
            "",
            "It shows health, space and its course, reads by source, jobs, the SSD, damaged files, and settings, which",
            "can be changed there.",
            "",
            "The first call makes two users, 'reader' and 'admin', and prints their passwords once."
        },
        subcommands = ConsoleUserCommand.class,
        footer = {
            "A given key store has the password in SDFS_KEY_STORE_PASSWORD, or 'changeit'. Users are in the file",
            "console-users in the folder of the volume files. docs/operations/console.md has more.",
            "",
            "Examples:",
            "  sdfscli console",
            "  sdfscli console --listen=0.0.0.0:8770 --tls"
        })
final class ConsoleCommand extends VolumeCommand {
    /** Set by systemd, if the output goes to its journal, which more people read than may change volumes. */
    private static final String OF_JOURNAL = "JOURNAL_STREAM";

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:8770",
            description = "Where to listen. Beyond this machine TLS and a user are needed. Default: ${DEFAULT-VALUE}.")
    String listen = "";

    @Option(
            names = "--tls",
            arity = "0..1",
            paramLabel = "KEYSTORE",
            fallbackValue = "",
            description = "Serve by https, with the key of this key store (PKCS #12); without a value, with a key that"
                    + " is made for it.")
    @Nullable
    String tls;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        Environment environment = cli().environment();
        Path folder = environment.configDirectory().folder();
        var users = new ConsoleUsers(folder);
        ListenAddress address = address();
        ConsoleServer.requireTls(address, tls != null);
        if (!users.exist()) {
            if (environment.variables().containsKey(OF_JOURNAL)) {
                throw new CommandFailedException("there is no user, and a new password does not belong into a journal: "
                        + "sdfscli console user add admin --role=change");
            }
            print("Made two users of the console. Their passwords are shown only now:");
            for (Role role : List.of(Role.READ, Role.CHANGE)) {
                String name = role == Role.READ ? "reader" : "admin";
                print("  %-8s %-36s may %s".formatted(name, users.add(name, role), role));
            }
        }
        TlsKeys keys = keys(folder, address);
        try (ConsoleServer console =
                ConsoleServer.start(environment, address, keys, users, this::print, Clock.systemUTC())) {
            print("The console is at " + console.page(address.host()) + " ; Ctrl-C ends it.");
            if (keys != null) {
                print("SHA-256 of its certificate: " + keys.fingerprint());
            }
            new CountDownLatch(1).await();
        }
        return ExitCode.OK;
    }

    private ListenAddress address() {
        try {
            return ListenAddress.parse(listen);
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    private @Nullable TlsKeys keys(Path folder, ListenAddress address) throws IOException {
        if (tls == null) {
            return null;
        }
        return tls.isEmpty()
                ? TlsKeys.own(folder, address.host())
                : TlsKeys.read(Path.of(tls), cli().environment().variables().getOrDefault(TlsKeys.PASSWORD, ""));
    }
}
