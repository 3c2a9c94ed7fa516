package org.opendedup.sar.sdfs.cli.support;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

/** Facts about the machine and the folders of a volume, without names. */
record Surroundings(VolumeDefinition definition) {

    /** Returns the folders of the volume by what they hold. */
    Map<String, Path> folders() {
        var folders = new LinkedHashMap<>(definition.stores());
        folders.put("log folder", RunFiles.logFolder(definition));
        folders.put("run folder", RunFiles.runFolder(definition));
        return folders;
    }

    /** Returns versions, processors, memory, and the file systems of the folders. */
    String system() throws IOException {
        var text = new StringBuilder();
        for (String line : new ProgramVersion().getVersion()) {
            text.append(line).append('\n');
        }
        for (String property :
                List.of("os.name", "os.version", "os.arch", "java.vendor", "java.vm.name", "java.vm.version")) {
            text.append(property)
                    .append(": ")
                    .append(System.getProperty(property))
                    .append('\n');
        }
        text.append("processors: ")
                .append(Runtime.getRuntime().availableProcessors())
                .append('\n');
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            lines.filter(line -> line.startsWith("Mem") || line.startsWith("Swap"))
                    .forEach(line -> text.append(line).append('\n'));
        }
        folders()
                .forEach((name, folder) ->
                        text.append(name).append(": ").append(store(folder)).append('\n'));
        return text.toString();
    }

    private static String store(Path folder) {
        try {
            FileStore store = Files.getFileStore(folder);
            return "file system " + store.type() + ", " + store.getUsableSpace() + " of " + store.getTotalSpace()
                    + " bytes usable, device " + MountTable.device(folder);
        } catch (IOException e) {
            return "not available, " + e.getClass().getSimpleName();
        }
    }

    /** Returns the type and the options of a mount. */
    static String mount(Path mountPoint) throws IOException {
        return MountTable.read()
                .top(mountPoint)
                .map(entry -> entry.type() + " " + String.join(",", new TreeSet<>(entry.options())) + "\n")
                .orElse("not in the mount table\n");
    }

    /** Returns the number of files and their bytes in each folder, by the ending of the name. */
    String sizes() {
        var text = new StringBuilder("folder, ending of the names, files, bytes\n");
        folders().forEach((name, folder) -> {
            try {
                sizes(folder)
                        .forEach((ending, size) ->
                                text.append(name + ", " + ending + ", " + size[0] + ", " + size[1] + "\n"));
            } catch (IOException e) {
                text.append(name).append(": ").append(FailureText.of(e)).append('\n');
            }
        });
        return text.toString();
    }

    private static Map<String, long[]> sizes(Path folder) throws IOException {
        var sizes = new TreeMap<String, long[]>();
        // A mounted volume deletes files meanwhile. A folder may have a million.
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile()) {
                    long[] size = sizes.computeIfAbsent(kind(file), any -> new long[2]);
                    size[0]++;
                    size[1] += attributes.size();
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (file.equals(folder)) {
                    throw failure;
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return sizes;
    }

    /** Only endings of the volume's own files are shown; anything else in its folders is somebody else's. */
    private static String kind(Path file) {
        String name = String.valueOf(file.getFileName());
        String ending = name.contains(".") ? name.substring(name.lastIndexOf('.')) : "none";
        return ending.matches("\\.(pack|sst|log|lock|session|sock|id|seg|[0-9]+)") ? ending : "other";
    }
}
