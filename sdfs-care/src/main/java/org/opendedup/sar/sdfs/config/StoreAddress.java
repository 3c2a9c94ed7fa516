package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.Checks.check;

import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.opendedup.sar.objects.ObjectStores;

/** The addresses of object stores, as options and the volume file have them. */
public final class StoreAddress {
    /** Names of parameters that would be credentials. */
    private static final Pattern SECRET =
            Pattern.compile("secret|passw|token|credential|signature|access.?key|key.?id");

    private StoreAddress() {}

    /**
     * Returns the address.
     *
     * @throws IllegalArgumentException if it is none, or has credentials: the volume file and lists of processes would
     *     show them. The message does not repeat an address that has some
     */
    public static String checked(String text) {
        check(
                ObjectStores.isAddress(text),
                "'" + text + "' is no address of an object store; write s3://BUCKET/PREFIX, hdfs://HOST/FOLDER or"
                        + " file:///FOLDER");
        URI uri;
        try {
            uri = URI.create(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the address of the object store is not a URI (RFC 3986)", e);
        }
        String user = uri.getRawUserInfo();
        String authority = uri.getRawAuthority();
        check(
                user == null && (authority == null || authority.indexOf('@') < 0),
                "the address of an object store has no user and no password (the part before '@'): they come from the"
                        + " environment, see docs/SCALE.md");
        for (String parameter :
                uri.getRawQuery() == null ? new String[0] : uri.getRawQuery().split("&", -1)) {
            String name = parameter.replaceAll("=.*", "");
            check(
                    !SECRET.matcher(name.toLowerCase(Locale.ROOT)).find(),
                    "the address of an object store has no credentials, such as " + name
                            + ": they come from the environment, see docs/SCALE.md");
        }
        check(uri.getRawFragment() == null, "the address of an object store has no part after '#'");
        return text;
    }

    /**
     * Returns the folder that is the store; empty if it is none.
     *
     * @throws IllegalArgumentException if the address names no absolute path
     */
    static Optional<Path> folder(String address) {
        URI uri = URI.create(address);
        return uri.getScheme().equalsIgnoreCase("file")
                ? Optional.of(Path.of(uri).normalize())
                : Optional.empty();
    }
}
