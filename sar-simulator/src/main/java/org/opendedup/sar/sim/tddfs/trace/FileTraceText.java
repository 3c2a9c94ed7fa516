package org.opendedup.sar.sim.tddfs.trace;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A trace as text, one record a line, with commas:
 *
 * <pre>{@code
 * file,NAME,SIZE              a file that exists before the first request; in the order of creation
 * read,NAME,OFFSET,LENGTH     bytes
 * write,NAME,OFFSET,LENGTH    beyond the end, the file grows
 * create,NAME,LENGTH          a new file, written as a whole; replaces an existing one
 * delete,NAME
 * }</pre>
 *
 * Empty lines and lines that begin with {@code #} are ignored. A name is any text without a comma. Requests are
 * replayed one after another, so they have no times.
 */
public final class FileTraceText {
    private static final String FILE = "file";

    private final Path path;
    private final Map<String, Integer> numbers = new HashMap<>();
    /** Sizes at the start, by number. */
    private final List<Long> startSizes = new ArrayList<>();
    /** Sizes after the requests read so far, by number; {@link #ABSENT} for a file that does not exist. */
    private final List<Long> sizes = new ArrayList<>();

    private final List<FileRequest> requests = new ArrayList<>();
    private int lineNumber;

    private static final long ABSENT = -1;

    private FileTraceText(Path path) {
        this.path = path;
    }

    /**
     * Reads a trace.
     *
     * @throws IOException if a line is no record, or if a request reads beyond the end of its file; names file and line
     */
    public static FileTrace read(Path path) throws IOException {
        FileTraceText text = new FileTraceText(path);
        try (BufferedReader lines = Files.newBufferedReader(path)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                text.lineNumber++;
                if (!line.isBlank() && !line.startsWith("#")) {
                    text.take(line.strip().split(",", -1));
                }
            }
        }
        long[] sizes = text.startSizes.stream().mapToLong(Long::longValue).toArray();
        return new FileTrace(String.valueOf(path.getFileName()), false, sizes, text.requests);
    }

    private void take(String[] fields) throws IOException {
        String kind = fields[0].toLowerCase(Locale.ROOT);
        switch (kind) {
            case FILE -> takeFile(fields);
            case "read" -> takeRange(FileRequest.Kind.READ, fields);
            case "write" -> takeRange(FileRequest.Kind.WRITE, fields);
            case "create" -> takeCreate(fields);
            case "delete" -> takeDelete(fields);
            default -> throw wrong("'" + fields[0] + "' is not file, read, write, create or delete");
        }
    }

    private void takeFile(String[] fields) throws IOException {
        checkCount(fields, 3);
        if (!requests.isEmpty()) {
            throw wrong("a file of the start is named after the first request");
        }
        int file = number(fields[1]);
        if (sizes.get(file) != ABSENT) {
            throw wrong("file " + fields[1] + " is named twice");
        }
        long size = bytes(fields[2], 1);
        startSizes.set(file, size);
        sizes.set(file, size);
    }

    private void takeRange(FileRequest.Kind kind, String[] fields) throws IOException {
        checkCount(fields, 4);
        int file = existing(fields[1]);
        long offset = bytes(fields[2], 0);
        long length = bytes(fields[3], 1);
        boolean isRead = kind == FileRequest.Kind.READ;
        if (offset > sizes.get(file) || isRead && offset + length > sizes.get(file)) {
            throw wrong("the range reaches beyond the end of " + fields[1] + " at " + sizes.get(file));
        }
        sizes.set(file, Math.max(sizes.get(file), offset + length));
        requests.add(new FileRequest(kind, file, offset, length));
    }

    private void takeCreate(String[] fields) throws IOException {
        checkCount(fields, 3);
        int file = number(fields[1]);
        sizes.set(file, bytes(fields[2], 1));
        requests.add(new FileRequest(FileRequest.Kind.CREATE, file, 0, sizes.get(file)));
    }

    private void takeDelete(String[] fields) throws IOException {
        checkCount(fields, 2);
        int file = existing(fields[1]);
        sizes.set(file, ABSENT);
        requests.add(new FileRequest(FileRequest.Kind.DELETE, file, 0, 0));
    }

    private void checkCount(String[] fields, int count) throws IOException {
        if (fields.length != count) {
            throw wrong(fields[0] + " has " + fields.length + " fields, not " + count);
        }
    }

    private int number(String name) {
        Integer known = numbers.putIfAbsent(name, sizes.size());
        if (known != null) {
            return known;
        }
        startSizes.add(0L);
        sizes.add(ABSENT);
        return sizes.size() - 1;
    }

    private int existing(String name) throws IOException {
        Integer number = numbers.get(name);
        if (number == null || sizes.get(number) == ABSENT) {
            throw wrong("there is no file " + name + " at that time");
        }
        return number;
    }

    private long bytes(String text, long least) throws IOException {
        try {
            long value = Long.parseLong(text);
            if (value >= least && value <= 1L << 50) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below, with the range.
        }
        throw wrong("'" + text + "' is no number of bytes from " + least + " to 2^50");
    }

    private IOException wrong(String what) {
        return new IOException(path + ", line " + lineNumber + ": " + what);
    }

    /** Writes a trace, so that {@link #read} returns an equal one. Numbers are the names of the files. */
    public static void write(FileTrace trace, Writer out) throws IOException {
        long[] sizes = trace.sizes();
        for (int file = 0; file < sizes.length; file++) {
            if (sizes[file] > 0) {
                out.write(FILE + "," + file + "," + sizes[file] + "\n");
            }
        }
        for (FileRequest request : trace.requests()) {
            String head = request.kind().name().toLowerCase(Locale.ROOT) + "," + request.file();
            out.write(
                    switch (request.kind()) {
                        case READ, WRITE -> head + "," + request.offset() + "," + request.length() + "\n";
                        case CREATE -> head + "," + request.length() + "\n";
                        case DELETE -> head + "\n";
                    });
        }
    }
}
