package org.opendedup.sar.plugin;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import org.opendedup.sdfs.filestore.AbstractChunkStore;
import org.w3c.dom.Element;

/** The class path of a process of SDFS: the plugin's jar first, then SDFS's types, then the libraries it has. */
final class Host {
    private static final String PASSPHRASE = "correct-horse-battery-staple";

    /** Attributes of a volume that is encrypted. */
    static final String ENCRYPTED = "sar-encrypt='true' sar-passphrase-command='printf " + PASSPHRASE + "' ";

    /** Encrypts the volumes of tests that do not choose themselves. */
    static final boolean ALL_ENCRYPTED = Boolean.getBoolean("sar.encrypted");

    private Host() {}

    /** Returns attributes that a volume of tests has in addition to its own. */
    static String moreThan(String attributes) {
        return ALL_ENCRYPTED && !attributes.contains("sar-encrypt") ? ENCRYPTED : "";
    }

    /** Returns the variables of commands beside it. */
    static Map<String, String> variables(Path configDirectory) {
        return Map.of(
                "SDFS_CONFIG_DIR", configDirectory.toString(), "SDFS_PASSPHRASE", ALL_ENCRYPTED ? PASSPHRASE : "");
    }

    static Path jar() {
        return Path.of(System.getProperty("plugin.jar"));
    }

    /** Returns the class path, with these tests at its end, and without the engine or its libraries. */
    static List<Path> classPath() throws IOException {
        List<Path> path = new ArrayList<>(List.of(jar(), sourceOf(AbstractChunkStore.class)));
        try (DirectoryStream<Path> libraries = Files.newDirectoryStream(Path.of(System.getProperty("plugin.host")))) {
            libraries.forEach(path::add);
        }
        path.add(sourceOf(Host.class));
        return path;
    }

    private static Path sourceOf(Class<?> type) {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
    }

    /** Makes a loader with this class path in the same process. */
    static URLClassLoader loader() throws IOException {
        List<URL> urls = new ArrayList<>();
        for (Path path : classPath()) {
            urls.add(url(path));
        }
        return new URLClassLoader("host", urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    private static URL url(Path path) throws MalformedURLException {
        return path.toUri().toURL();
    }

    /** Returns the command that runs a class of these tests as SDFS would. */
    static ProcessBuilder process(Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx700m",
                "-Dsar.encrypted=" + ALL_ENCRYPTED,
                "-cp",
                classPath().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)),
                main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true);
    }

    /** Returns the element {@code <extended-config>} of a volume below {@code folder}, whose name it has. */
    static Element config(Path folder, String attributes) {
        return config(folder, "VARIABLE_SHA256", attributes);
    }

    /** As above, with other fingerprints. */
    static Element config(Path folder, String hashType, String attributes) {
        String memory = attributes.contains("sar-memory-budget") ? "" : "sar-memory-budget='300MB' ";
        String xml = "<subsystem-config><locations dedup-db-store='" + folder.resolve("ddb") + "'/><io"
                + " chunk-size='256' hash-type='" + hashType + "' hash-seed='-6442'/><volume name='"
                + folder.getFileName()
                + "'/><local-chunkstore chunk-store='"
                + folder.resolve("chunks") + "' hash-db-store='"
                + folder.resolve("hashes") + "' allocation-size='10737418240' encrypt='false'"
                + " hashdb-class='org.opendedup.sar.plugin.SarHashesMap'><extended-config "
                + "sar-write-threads='2' " + memory + moreThan(attributes) + attributes
                + "/></local-chunkstore></subsystem-config>";
        try {
            return (Element) DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)))
                    .getElementsByTagName("extended-config")
                    .item(0);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
