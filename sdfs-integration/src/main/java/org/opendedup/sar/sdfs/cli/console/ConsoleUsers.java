package org.opendedup.sar.sdfs.cli.console;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.sdfs.jolokia.Role;

/**
 * The users of the console, in a file that only its owner may read: a line each, with name, role, rounds, salt and hash
 * of the password (PBKDF2 with HMAC-SHA-256), separated by colons. Passwords are made here, of 125 random bits. The
 * file is read at each question, so that a change holds at once.
 */
public final class ConsoleUsers {
    /** Name of the file in the folder of the volume files. */
    public static final String FILE = "console-users";

    /** Name of the file there that is locked while a command changes the users. */
    static final String LOCK = FILE + ".lock";

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,31}");
    private static final int ROUNDS = 200_000;
    private static final int SALT_BYTES = 16;
    private static final int HASH_BITS = 256;

    /** Without letters and digits that look alike. */
    private static final String ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

    private static final int GROUPS = 5;
    private static final int GROUP_LETTERS = 5;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path folder;
    private final Path file;

    /** A user. The hash says whether the password is still the same. */
    public record User(String name, Role role, int rounds, String salt, String hash) {
        private String line() {
            return String.join(":", name, role.toString(), Integer.toString(rounds), salt, hash);
        }
    }

    /** @param folder the folder of the volume files */
    public ConsoleUsers(Path folder) {
        this.folder = folder;
        file = folder.resolve(FILE);
    }

    /** Returns whether there is a file, which may have no users. */
    public boolean exist() {
        return Files.exists(file);
    }

    /**
     * Returns all users; empty if there is no file.
     *
     * @throws IOException if the file cannot be read, other users may read or change it, or a line is not one of a user
     */
    public List<User> all() throws IOException {
        List<String> lines;
        try {
            requirePrivate();
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            return List.of();
        }
        List<User> users = new ArrayList<>();
        for (String line : lines) {
            String[] parts = line.split(":");
            if (parts.length != 5) {
                throw new IOException(file + ", line " + (users.size() + 1) + ": this is no user");
            }
            users.add(new User(parts[0], Role.of(parts[1]), Integer.parseInt(parts[2]), parts[3], parts[4]));
        }
        return users;
    }

    /** Who can put another file in its place makes users. */
    private void requirePrivate() throws IOException {
        PrivateFolder.at(file).requireSafe();
        PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
        Set<PosixFilePermission> others = EnumSet.copyOf(attributes.permissions());
        others.remove(PosixFilePermission.OWNER_READ);
        others.remove(PosixFilePermission.OWNER_WRITE);
        if (!others.isEmpty()) {
            throw new IOException("others may access " + file + ", which has the passwords of the console: chmod 600 "
                    + file + ", and give the users new passwords");
        }
    }

    /** Returns the user with this name. */
    public Optional<User> find(String name) throws IOException {
        return all().stream().filter(user -> user.name.equals(name)).findFirst();
    }

    /** Returns the user, if the password is right. Takes as long for a user that does not exist. */
    public Optional<User> check(String name, String password) throws IOException {
        Optional<User> user = find(name);
        String salt = user.map(User::salt).orElse(Base64.getEncoder().encodeToString(new byte[SALT_BYTES]));
        String hash = hash(password, salt, user.map(User::rounds).orElse(ROUNDS));
        return user.filter(found -> MessageDigest.isEqual(bytes(found.hash), bytes(hash)));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Adds a user, or gives an existing one another role and password.
     *
     * @return the password, which is stored nowhere
     * @throws IllegalArgumentException if the name is not allowed; the message says what is
     */
    public String add(String name, Role role) throws IOException {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "'" + name + "' is no name of a user: up to 32 of a to z, 0 to 9, _ and -, a letter first");
        }
        String password = password();
        String salt = salt();
        User added = new User(name, role, ROUNDS, salt, hash(password, salt, ROUNDS));
        var unused = change(users -> {
            users.removeIf(user -> user.name.equals(name));
            return users.add(added);
        });
        return password;
    }

    /** Removes a user; returns false if there is none with this name. */
    public boolean remove(String name) throws IOException {
        return exist() && change(users -> users.removeIf(user -> user.name.equals(name)));
    }

    /**
     * Changes the users. Of two processes at once, each would write the users that it has read, and undo what the other
     * has done.
     *
     * @param change changes the list; returns whether it did
     */
    private boolean change(Predicate<List<User>> change) throws IOException {
        PrivateFiles.createFolders(folder);
        // Before anything is made in a folder that others can write to.
        var unused = all();
        try (LockFile held = LockFile.tryAcquire(folder.resolve(LOCK))
                .orElseThrow(() -> new IOException("another command changes the users of the console; try again"))) {
            List<User> users = new ArrayList<>(all());
            boolean isChanged = change.test(users);
            if (isChanged) {
                write(users);
            }
            return isChanged;
        }
    }

    private void write(List<User> users) throws IOException {
        String text =
                String.join("", users.stream().map(user -> user.line() + "\n").toList());
        AtomicFile.write(file, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String salt() {
        byte[] salt = new byte[SALT_BYTES];
        RANDOM.nextBytes(salt);
        return Base64.getEncoder().encodeToString(salt);
    }

    private static String password() {
        var password = new StringBuilder();
        for (int i = 0; i < GROUPS * GROUP_LETTERS; i++) {
            password.append(i > 0 && i % GROUP_LETTERS == 0 ? "-" : "");
            password.append(ALPHABET.charAt(RANDOM.nextInt(ALPHABET.length())));
        }
        return password.toString();
    }

    private static String hash(String password, String salt, int rounds) {
        var spec = new PBEKeySpec(password.toCharArray(), Base64.getDecoder().decode(salt), rounds, HASH_BITS);
        try {
            byte[] hash = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                    .generateSecret(spec)
                    .getEncoded();
            return Base64.getEncoder().encodeToString(hash);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK has no PBKDF2", e);
        }
    }
}
