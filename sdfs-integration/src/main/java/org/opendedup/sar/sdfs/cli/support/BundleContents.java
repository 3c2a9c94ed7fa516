package org.opendedup.sar.sdfs.cli.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;

/** What a support bundle holds. */
public final class BundleContents {
    /** Full log files that are added, besides the one being written. */
    private static final int OLDER_LOGS = 2;

    /**
     * What is put into a bundle.
     *
     * @param volumeFile the volume's XML file
     * @param mountPoint where the volume is mounted; empty if it is not
     * @param answers the daemon's answers, by the names of their entries
     * @param jvm parts of what the JVM reports, by the names of their entries
     */
    public record Sources(
            Path volumeFile,
            RunFiles files,
            String mountPoint,
            Map<String, Callable<Map<String, Object>>> answers,
            Map<String, Callable<String>> jvm) {}

    private final Sources sources;
    private final VolumeDefinition definition;
    private final Placeholders names;

    private BundleContents(Sources sources, Placeholders names) {
        this.sources = sources;
        this.definition = sources.files().definition();
        this.names = names;
    }

    /**
     * Writes a bundle to a new file.
     *
     * @param withNames whether names stay
     * @return the names of its entries
     * @throws java.nio.file.FileAlreadyExistsException if there is something at that path
     */
    public static List<String> write(Path file, boolean withNames, Sources sources) throws IOException {
        var names = new Placeholders(withNames, Vocabulary.of(BundleContents.class, Volume.class));
        var contents = new BundleContents(sources, names);
        contents.know();
        try (SupportBundle bundle = SupportBundle.create(file, names)) {
            contents.add(bundle);
            return bundle.entries();
        }
    }

    private void know() throws IOException {
        names.know(sources.mountPoint(), "MOUNTPOINT");
        new Surroundings(definition)
                .folders()
                .forEach((name, folder) -> names.know(
                        folder.toString(), name.toUpperCase(Locale.ROOT).replace(' ', '_')));
        names.know(definition.basePath().toString(), "BASE");
        Path configFolder = sources.volumeFile().getParent();
        names.know(configFolder == null ? "" : configFolder.toString(), "CONFIG_FOLDER");
        names.know(System.getProperty("java.home"), "JAVA_HOME");
        names.know(System.getProperty("user.home"), "HOME");
        names.know(System.getProperty("user.name"), "USER");
        String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        names.know(host, "HOST");
        names.know(host.replaceFirst("\\..*", ""), "HOST");
        names.know(definition.config().name(), "VOLUME");
    }

    private void add(SupportBundle bundle) throws IOException {
        for (Map.Entry<String, Callable<Map<String, Object>>> answer :
                sources.answers().entrySet()) {
            bundle.addJson(answer.getKey(), answer.getValue());
        }
        for (Map.Entry<String, Callable<String>> part : sources.jvm().entrySet()) {
            bundle.addText(part.getKey(), () -> withoutPaths(part.getValue().call()));
        }
        bundle.addText("volume.xml", () -> VolumeFileNames.replaced(Files.readString(sources.volumeFile()), names));
        var surroundings = new Surroundings(definition);
        bundle.addText("system.txt", surroundings::system);
        bundle.addText("sizes.txt", surroundings::sizes);
        if (!sources.mountPoint().isEmpty()) {
            bundle.addText("mount.txt", () -> Surroundings.mount(Path.of(sources.mountPoint())));
        }
        addLogs(bundle);
        bundle.addJson("last-end.json", this::lastEnd);
    }

    /**
     * Replaces paths in what the JVM reports: its command line names folders of the machine. Other names there are
     * known ones.
     */
    private String withoutPaths(String text) {
        return text.lines().map(names::pathsIn).collect(Collectors.joining("\n", "", "\n"));
    }

    private Map<String, Object> lastEnd() throws IOException {
        try {
            return Json.read(Files.readString(sources.files().lastEnd()));
        } catch (NoSuchFileException e) {
            return Map.of();
        }
    }

    private void addLogs(SupportBundle bundle) throws IOException {
        Path log = sources.files().log();
        bundle.addLines("log/daemon.log", log, names::line);
        for (int older = 1; older <= OLDER_LOGS; older++) {
            bundle.addLines(
                    "log/daemon.log." + older, log.resolveSibling(log.getFileName() + "." + older), names::line);
        }
        bundle.addLines("log/console.txt", sources.files().console(), names::line);
        addCrashes(bundle, log);
        VolumeConfig.Locations locations = definition.config().locations();
        // The words of RocksDB are not ours.
        bundle.addLines("rocksdb/metadata-LOG", locations.metadata().resolve("LOG"), names::pathsIn);
        bundle.addLines("rocksdb/index-LOG", locations.hashDb().resolve("LOG"), names::pathsIn);
    }

    private void addCrashes(SupportBundle bundle, Path log) throws IOException {
        Path folder = log.getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            return;
        }
        List<Path> crashes;
        try (Stream<Path> files = Files.list(folder)) {
            crashes = files.filter(file -> String.valueOf(file.getFileName()).matches("hs_err_\\d+\\.log"))
                    .sorted()
                    .toList();
        }
        for (Path crash : crashes) {
            bundle.addLines("log/" + crash.getFileName(), crash, new CrashReportFilter(names));
        }
    }
}
