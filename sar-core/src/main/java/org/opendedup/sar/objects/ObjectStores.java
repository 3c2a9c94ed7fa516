package org.opendedup.sar.objects;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/** Opens object stores by their addresses, and tries whether they keep what volumes need. */
public final class ObjectStores {
    private static final Pattern WITH_SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://.*");
    private static final String FOLDER = "file";
    /** Schemes whose libraries have packages of their own. */
    private static final List<String> OPTIONAL = List.of("s3", "hdfs");

    private ObjectStores() {}

    /** Returns whether text is an address with a scheme, and so not the path of a folder. */
    public static boolean isAddress(String text) {
        return WITH_SCHEME.matcher(text).matches();
    }

    /**
     * Opens a store.
     *
     * @param address the path of a folder that exists, or {@code SCHEME://…}
     * @throws IllegalArgumentException if the program has no store for the scheme, naming the package that gives it; or
     *     if the address has not the form of the scheme
     */
    public static ObjectStore open(String address) throws IOException {
        if (!isAddress(address)) {
            return FolderObjectStore.open(Path.of(address));
        }
        URI uri = URI.create(address);
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        if (scheme.equals(FOLDER)) {
            return FolderObjectStore.open(Path.of(uri));
        }
        // The loader of this class: the plugin's engine has one of its own.
        Optional<ObjectStore> store = OptionalStores.open(ObjectStores.class.getClassLoader(), uri, scheme);
        Optional<Path> folder = OptionalStores.folder(scheme);
        if (store.isEmpty() && folder.isPresent()) {
            store = OptionalStores.open(folder.get(), uri, scheme);
        }
        return store.orElseThrow(() -> new IllegalArgumentException(missing(scheme, folder)));
    }

    private static String missing(String scheme, Optional<Path> folder) {
        if (!OPTIONAL.contains(scheme)) {
            return "no store for " + scheme + "://; there are those for file:// and, by packages of their own, "
                    + String.join(":// and ", OPTIONAL) + "://";
        }
        return "the libraries for " + scheme + ":// are not installed"
                + folder.map(jars -> ": install the package sdfs-" + scheme + ", which has them in " + jars)
                        .orElse(" here");
    }

    /**
     * Tries whether a store refuses a second put of a name and the replacement of an old version. A gateway that does
     * not know the conditions of such a request ignores them, and a second owner would overwrite a volume. Makes
     * objects below {@code folder} and deletes them.
     *
     * @param folder a prefix that no object has, without a {@code /} at its end
     * @throws IOException if the store does not keep a condition, naming it, or on any other failure
     */
    public static void checkConditions(ObjectStore store, String folder) throws IOException {
        String once = folder + "/once";
        String replaced = folder + "/replaced";
        try {
            store.put(once, ObjectSource.of(new byte[] {1}));
            checkRefused(store, "a second put of a name (If-None-Match)", () -> {
                store.put(once, ObjectSource.of(new byte[] {2}));
            });
            Optional<ReplaceableObjects> objects = store.replaceable();
            if (objects.isPresent()) {
                ReplaceableObjects some = objects.get();
                String first = some.replace(replaced, null, UUID.randomUUID(), new byte[] {1});
                some.replace(replaced, first, UUID.randomUUID(), new byte[] {2});
                checkRefused(store, "the replacement of a version that is not there any more (If-Match)", () -> {
                    some.replace(replaced, first, UUID.randomUUID(), new byte[] {3});
                });
                checkRefused(store, "a second making of an object (If-None-Match)", () -> {
                    some.replace(replaced, null, UUID.randomUUID(), new byte[] {4});
                });
            }
        } finally {
            store.delete(List.of(once, replaced));
        }
    }

    @FunctionalInterface
    private interface Change {
        void make() throws IOException;
    }

    private static void checkRefused(ObjectStore store, String what, Change change) throws IOException {
        try {
            change.make();
        } catch (FileAlreadyExistsException | VersionChangedException e) {
            return;
        }
        throw new IOException(store + " does not refuse " + what + ", so it cannot hold a volume safely");
    }
}
