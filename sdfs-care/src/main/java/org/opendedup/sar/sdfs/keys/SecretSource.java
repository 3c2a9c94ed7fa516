package org.opendedup.sar.sdfs.keys;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.keys.Secret;
import org.opendedup.sar.sdfs.cli.report.FailureText;

/**
 * Where a passphrase or key comes from: a file, a command, a variable, or the terminal. At most one of the first three
 * is not null; if all are null, the variable decides, and without it the terminal.
 *
 * @param passphraseFile file with a passphrase
 * @param keyFile file whose bytes are the secret
 * @param command command of a shell that prints a passphrase
 * @param variable name of the variable
 */
public record SecretSource(
        @Nullable Path passphraseFile,
        @Nullable Path keyFile,
        @Nullable String command,
        String variable) {
    /** Variables with secrets: a process gives them to no process that it starts. */
    public static final String PASSPHRASE = "SDFS_PASSPHRASE";

    /** As {@link #PASSPHRASE}, for a new slot. */
    public static final String NEW_PASSPHRASE = "SDFS_NEW_PASSPHRASE";

    /** As {@link #PASSPHRASE}, for a stream of another volume. */
    public static final String STREAM_PASSPHRASE = "SDFS_STREAM_PASSPHRASE";

    /** Largest passphrase or key file, in bytes. */
    private static final int BYTES_MAX = 1 << 20;

    private static final int OTHERS_MAY_READ = 04;

    /** What the JVM reads in the place of bytes that are no character. */
    private static final char REPLACEMENT = '\uFFFD';

    /** @throws IllegalArgumentException if more than one is given */
    public SecretSource {
        if (Stream.of(passphraseFile == null, keyFile == null, command == null)
                        .filter(absent -> !absent)
                        .count()
                > 1) {
            throw new IllegalArgumentException("give one of a passphrase file, a key file and a passphrase command");
        }
    }

    /** Returns whether an option says where it is; a variable may be there for another volume. */
    public boolean isGiven() {
        return passphraseFile != null || keyFile != null || command != null;
    }

    /** Returns whether somebody types it, and so may mistype it. */
    boolean isTyped(SecretEnvironment environment) {
        return !isGiven() && variable(environment).isEmpty();
    }

    private String variable(SecretEnvironment environment) {
        return environment.variables().getOrDefault(variable, "");
    }

    /**
     * Gets the secret.
     *
     * @param question what to ask for on a terminal
     * @throws KeyException if there is none, or it is empty
     */
    public Secret get(SecretEnvironment environment, String question) throws IOException {
        if (passphraseFile != null) {
            return secret(Secret.Kind.PASSPHRASE, text(withoutLineEnd(file(passphraseFile, environment))));
        } else if (keyFile != null) {
            return secret(Secret.Kind.KEY_FILE, file(keyFile, environment));
        } else if (command != null) {
            return secret(Secret.Kind.COMMAND, withoutLineEnd(output(command)));
        }
        String value = variable(environment);
        if (!value.isEmpty()) {
            return secret(Secret.Kind.PASSPHRASE, bytes(value.toCharArray(), "the passphrase in " + variable));
        }
        return typed(environment, question);
    }

    /**
     * Gets the secret of a new slot: who types it types it twice.
     *
     * @param question what to ask for on a terminal
     */
    public Secret getNew(SecretEnvironment environment, String question) throws IOException {
        Secret secret = get(environment, question);
        if (isTyped(environment)) {
            try (Secret again = typed(environment, "The same again: ")) {
                if (!Arrays.equals(secret.bytes(), again.bytes())) {
                    secret.close();
                    throw noKey("the two passphrases differ; nothing was changed");
                }
            }
        }
        return secret;
    }

    private Secret typed(SecretEnvironment environment, String question) throws KeyException {
        char[] typed = environment.ask(question);
        if (typed == null) {
            throw noKey("there is no passphrase, and no terminal to ask for it: give a passphrase file, a key file or a"
                    + " passphrase command, or set " + variable);
        }
        return secret(Secret.Kind.PASSPHRASE, bytes(typed, "the passphrase"));
    }

    /**
     * Returns a passphrase in UTF-8, and overwrites it. The JVM puts U+FFFD in the place of bytes that are no
     * characters in the encoding of the locale, which is UTF-8 in all our scripts: passphrases that differ there would
     * be equal.
     *
     * @throws KeyException if there is such a character
     */
    private static byte[] bytes(char[] characters, String what) throws KeyException {
        try {
            if (CharBuffer.wrap(characters).chars().anyMatch(c -> c == REPLACEMENT)) {
                throw notText(what);
            }
            ByteBuffer encoded = UTF_8.newEncoder().encode(CharBuffer.wrap(characters));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            Arrays.fill(encoded.array(), (byte) 0);
            return bytes;
        } catch (CharacterCodingException e) {
            throw notText(what);
        } finally {
            Arrays.fill(characters, ' ');
        }
    }

    /**
     * Returns the bytes of a passphrase.
     *
     * @throws KeyException if they are not UTF-8, so that nobody could type them
     */
    private static byte[] text(byte[] bytes) throws KeyException {
        try {
            CharBuffer characters = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            Arrays.fill(characters.array(), ' ');
            return bytes;
        } catch (CharacterCodingException e) {
            throw notText("the passphrase in the file");
        }
    }

    private static KeyException notText(String what) {
        return noKey(
                what + " has bytes that are no characters in UTF-8: correct it, or the encoding of the terminal; or"
                        + " give a key file, which may have any bytes");
    }

    private static Secret secret(Secret.Kind kind, byte[] bytes) throws KeyException {
        if (bytes.length == 0) {
            throw noKey("the " + kind + " is empty");
        }
        return new Secret(kind, bytes);
    }

    private static KeyException noKey(String message) {
        return new KeyException(KeyException.Reason.WRONG_SECRET, message);
    }

    private static byte[] file(Path file, SecretEnvironment environment) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            if (Files.isRegularFile(file) && ((int) Files.getAttribute(file, "unix:mode") & OTHERS_MAY_READ) != 0) {
                environment.say("warning: every user may read " + file + "; correct it: chmod 600 " + file);
            }
            return bounded(in, file.toString());
        } catch (IOException e) {
            throw e instanceof KeyException ? e : noKey(FailureText.of(e));
        }
    }

    private static byte[] bounded(InputStream in, String what) throws IOException {
        byte[] bytes = in.readNBytes(BYTES_MAX + 1);
        if (bytes.length > BYTES_MAX) {
            throw noKey(what + " gives more than " + BYTES_MAX + " bytes, which is no passphrase or key");
        }
        return bytes;
    }

    /** Removes what no process that is started may have. */
    public static void withoutSecrets(ProcessBuilder builder) {
        builder.environment().keySet().removeAll(List.of(PASSPHRASE, NEW_PASSPHRASE, STREAM_PASSPHRASE));
    }

    private static byte[] output(String command) throws IOException {
        var builder = new ProcessBuilder("/bin/sh", "-c", command)
                .redirectInput(Redirect.INHERIT)
                .redirectError(Redirect.INHERIT);
        withoutSecrets(builder);
        Process process = builder.start();
        try (InputStream in = process.getInputStream()) {
            byte[] bytes = bounded(in, "the passphrase command");
            int code = process.waitFor();
            if (code != 0) {
                throw noKey("the passphrase command ended with exit code " + code);
            }
            return bytes;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the passphrase command ran", e);
        } finally {
            process.destroy();
        }
    }

    /** Removes one line break at the end, which editors and echo write. */
    private static byte[] withoutLineEnd(byte[] bytes) {
        int length = bytes.length;
        if (length > 0 && bytes[length - 1] == '\n') {
            length -= length > 1 && bytes[length - 2] == '\r' ? 2 : 1;
        }
        byte[] line = Arrays.copyOf(bytes, length);
        Arrays.fill(bytes, (byte) 0);
        return line;
    }
}
