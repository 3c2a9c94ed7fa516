package org.opendedup.sar.objects;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * Stores whose libraries are not on the class path: the folder {@code optional/SCHEME} beside the folder of the
 * program's jars. Its jars are loaded when an address first names the scheme, by a class loader of their own: a volume
 * on this machine loads no class of them, and what libraries of a cloud bring with them (parsers of XML, clients of
 * HTTP) is seen by that store alone.
 *
 * <p>Each opening has a loader of its own, which goes with the store. It opens all jars at once, so that a package
 * manager may replace them while the volume is mounted (docs/adr/0087).
 */
final class OptionalStores {
    private static final String FOLDER = "optional";
    private static final String JARS = "*.jar";
    /** No jar has it; to look for it opens them all. */
    private static final String NOWHERE = "no/such/resource";

    private OptionalStores() {}

    /**
     * Returns the folder of a scheme's jars, which need not exist; empty if the program does not run from jars, as the
     * engine within the plugin does.
     */
    static Optional<Path> folder(String scheme) {
        CodeSource source = OptionalStores.class.getProtectionDomain().getCodeSource();
        if (source == null || !source.getLocation().getPath().endsWith(".jar")) {
            return Optional.empty();
        }
        try {
            Path jar = Path.of(source.getLocation().toURI()).toAbsolutePath();
            return Optional.of(jar.resolve("../..").normalize().resolve(FOLDER).resolve(scheme));
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Opens a store by the jars of a folder.
     *
     * @return empty if the folder has no jar for the scheme
     * @throws IllegalArgumentException if the address has not the form of the scheme, or the jars are not complete
     */
    static Optional<ObjectStore> open(Path folder, URI address, String scheme) throws IOException {
        Optional<URLClassLoader> loader = loader(folder, scheme);
        return loader.isEmpty() ? Optional.empty() : open(loader.get(), address, scheme);
    }

    /** Returns a loader of the jars of a folder, which has opened them all; empty if there are none. */
    static Optional<URLClassLoader> loader(Path folder, String scheme) throws IOException {
        List<URL> jars = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, JARS)) {
                for (Path jar : files) {
                    jars.add(jar.toUri().toURL());
                }
            }
        }
        if (jars.isEmpty()) {
            return Optional.empty();
        }
        URLClassLoader loader =
                new URLClassLoader("sar-" + scheme, jars.toArray(URL[]::new), OptionalStores.class.getClassLoader());
        loader.findResource(NOWHERE);
        return Optional.of(loader);
    }

    /** Opens a store by a provider that a loader has; empty if it has none for the scheme. */
    static Optional<ObjectStore> open(ClassLoader loader, URI address, String scheme) throws IOException {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // Libraries look there for their parts.
        thread.setContextClassLoader(loader);
        try {
            for (ObjectStoreProvider provider : ServiceLoader.load(ObjectStoreProvider.class, loader)) {
                if (provider.scheme().equals(scheme)) {
                    return Optional.of(provider.open(address));
                }
            }
            return Optional.empty();
        } catch (LinkageError | ServiceConfigurationError e) {
            throw new IllegalArgumentException(
                    "the libraries for " + scheme + ":// are not complete; install them again: " + e, e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
