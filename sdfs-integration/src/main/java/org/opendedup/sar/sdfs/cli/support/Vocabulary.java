package org.opendedup.sar.sdfs.cli.support;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The words that the program itself contains: those of its messages, and its names of classes and methods. A word of a
 * log line that is among them says nothing about files; any other word may be part of a name.
 */
final class Vocabulary {
    private static final Pattern NO_WORD = Pattern.compile("[^\\p{L}\\p{N}]+");
    private static final Pattern NUMBER = Pattern.compile("[0-9]+[A-Za-z]{0,3}|0x[0-9a-fA-F]+|[a-z]{1,2}");

    /** Messages of the system and the JDK that the log repeats. */
    private static final List<String> SYSTEM_MESSAGES = List.of(
            "Input/output error",
            "No space left on device",
            "Read-only file system",
            "Permission denied",
            "Operation not permitted",
            "No such file or directory",
            "No such device or address",
            "Is a directory",
            "Not a directory",
            "Directory not empty",
            "File exists",
            "File name too long",
            "Device or resource busy",
            "Disk quota exceeded",
            "Stale file handle",
            "Invalid argument",
            "Bad file descriptor",
            "Too many open files",
            "Cannot allocate memory",
            "Broken pipe",
            "Connection reset by peer",
            "Structure needs cleaning",
            "Remote I/O error",
            "Transport endpoint is not connected",
            "Caused by, Suppressed, common frames omitted, TRACE DEBUG INFO WARN ERROR",
            "IO error: While appending to file, While fdatasync, While open a file for random read, Corruption:",
            "block checksum mismatch: stored, computed, in offset size");

    private final Set<String> words;

    private Vocabulary(Set<String> words) {
        this.words = words;
    }

    /**
     * Returns the words of the program's classes in the places, which are jars or folders, that these classes are from.
     */
    static Vocabulary of(Class<?>... members) throws IOException {
        var words = new HashSet<String>();
        SYSTEM_MESSAGES.forEach(message -> addWords(message, words));
        var seen = new HashSet<Path>();
        for (Class<?> member : members) {
            CodeSource source = member.getProtectionDomain().getCodeSource();
            if (source == null) {
                continue;
            }
            try {
                Path place = Path.of(source.getLocation().toURI());
                if (seen.add(place)) {
                    addClasses(place, words);
                }
            } catch (URISyntaxException e) {
                throw new IOException(source + " is no path", e);
            }
        }
        return new Vocabulary(words);
    }

    private static void addClasses(Path place, Set<String> words) throws IOException {
        if (Files.isDirectory(place)) {
            addTree(place, words);
        } else {
            try (FileSystem jar = FileSystems.newFileSystem(place)) {
                addTree(jar.getPath("/"), words);
            }
        }
    }

    private static void addTree(Path root, Set<String> words) throws IOException {
        List<Path> classes;
        try (Stream<Path> walk = Files.walk(root)) {
            classes = walk.filter(file -> file.toString().endsWith(".class")).toList();
        }
        for (Path file : classes) {
            addConstants(Files.readAllBytes(file), words);
        }
    }

    /**
     * Adds the words of a class file, in whose constant pool they are texts behind a tag and a length. The length may
     * look like a letter of the first word.
     */
    private static void addConstants(byte[] classFile, Set<String> words) {
        NO_WORD.splitAsStream(new String(classFile, StandardCharsets.ISO_8859_1))
                .map(word -> word.toLowerCase(Locale.ROOT))
                .filter(word -> !word.isEmpty())
                .forEach(word -> words.addAll(List.of(word, word.substring(1))));
    }

    private static void addWords(String text, Set<String> words) {
        NO_WORD.splitAsStream(text).forEach(word -> words.add(word.toLowerCase(Locale.ROOT)));
    }

    /** Returns whether each word of a text is the program's, or a number with a unit, or has at most two letters. */
    boolean hasAll(String text) {
        return NO_WORD.splitAsStream(text)
                .allMatch(word -> word.isEmpty()
                        || NUMBER.matcher(word).matches()
                        || words.contains(word.toLowerCase(Locale.ROOT)));
    }
}
