package org.opendedup.sar.objects;

import java.util.regex.Pattern;

/**
 * The names that an object may have: such as every store can keep, and list in the order of their bytes, without an
 * encoding. Parts of ASCII letters, digits and {@code - _ . =}, with {@code /} between them; a part does not begin with
 * a dot. Whoever chooses names must not make {@code a} and {@code a/b} both: gateways over a file system refuse it.
 */
public final class ObjectNames {
    /** Most characters of a part: a folder adds 17, and a file's name has at most 255. */
    public static final int MOST_OF_PART = 200;

    /** Most characters of a name: S3 has 1024 with the prefix of the store. */
    public static final int MOST = 800;

    private static final String CHARACTERS = "[A-Za-z0-9_=-][A-Za-z0-9._=-]{0," + (MOST_OF_PART - 1) + "}";
    private static final Pattern NAME = Pattern.compile(CHARACTERS + "(/" + CHARACTERS + ")*");
    private static final Pattern PREFIX = Pattern.compile("(" + CHARACTERS + "/)*(" + CHARACTERS + ")?");

    private ObjectNames() {}

    /** Returns whether an object may have a name. */
    public static boolean isName(String text) {
        return text.length() <= MOST && NAME.matcher(text).matches();
    }

    /**
     * Returns the name.
     *
     * @throws IllegalArgumentException if no object may have it
     */
    public static String checked(String name) {
        return checked(name, NAME, "the name of an object");
    }

    /**
     * Returns the prefix.
     *
     * @throws IllegalArgumentException if no name can begin with it
     */
    public static String checkedPrefix(String prefix) {
        return checked(prefix, PREFIX, "what the name of an object begins with");
    }

    private static String checked(String text, Pattern pattern, String what) {
        if (text.length() > MOST || !pattern.matcher(text).matches()) {
            throw new IllegalArgumentException("not " + what + ": " + text);
        }
        return text;
    }
}
