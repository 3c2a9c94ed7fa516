package org.opendedup.sar.sdfs.keys;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the process has from which a secret may come, beside files and commands. */
public interface SecretEnvironment {
    /** Returns the environment variables; an empty one counts as not set. */
    Map<String, String> variables();

    /** Asks on a terminal, without showing what is typed; null if there is no terminal, or its input has ended. */
    char @Nullable [] ask(String question);

    /** Says something to the administrator, in one sentence. */
    void say(String sentence);
}
