package org.opendedup.sar.sdfs.cli.command;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sdfs.keys.SecretSource;

/**
 * Names and numbers of users and groups, as the machine knows them, from files, LDAP or others: asked with getent(1),
 * because Java tells no number of a name.
 */
public enum UserDatabase {
    USERS("passwd"),
    GROUPS("group");

    /** Names that are asked for at once; a command line has a bound. */
    private static final int BATCH = 1000;

    private static final int NUMBER_FIELD = 2;

    private final String database;

    UserDatabase(String database) {
        this.database = database;
    }

    /**
     * Returns the number of a name; a number stands for itself.
     *
     * @throws IOException if there is no such name, or getent cannot be run
     */
    public long number(String name) throws IOException {
        if (name.matches("[0-9]{1,10}") && Long.parseLong(name) <= 0xffff_ffffL) {
            return Long.parseLong(name);
        }
        for (String[] entry : ask(List.of(name))) {
            if (entry[0].equals(name)) {
                return Long.parseLong(entry[NUMBER_FIELD]);
            }
        }
        throw new IOException("there is no " + (this == USERS ? "user" : "group") + " '" + name + "' on this machine");
    }

    /** Returns the names of numbers; what has no name is left out. */
    public Map<Long, String> names(Collection<Long> numbers) throws IOException {
        Map<Long, String> names = new HashMap<>();
        List<String> all = numbers.stream().map(String::valueOf).toList();
        for (int from = 0; from < all.size(); from += BATCH) {
            for (String[] entry : ask(all.subList(from, Math.min(all.size(), from + BATCH)))) {
                names.putIfAbsent(Long.parseLong(entry[NUMBER_FIELD]), entry[0]);
            }
        }
        return names;
    }

    private List<String[]> ask(List<String> keys) throws IOException {
        List<String> command = new ArrayList<>(List.of("getent", database, "--"));
        command.addAll(keys);
        var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
        SecretSource.withoutSecrets(builder);
        Process process = builder.start();
        process.getOutputStream().close();
        String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while getent ran");
        }
        return answer.lines()
                .map(line -> line.split(":", -1))
                .filter(entry -> entry.length > NUMBER_FIELD && entry[NUMBER_FIELD].matches("[0-9]{1,10}"))
                .toList();
    }
}
