package org.opendedup.sar.sdfs.audit;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;
import jdk.net.UnixDomainPrincipal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who asked for something. What is not known is null.
 *
 * @param user name of the user
 * @param uid its number
 * @param loginUid number of the user who logged in, which {@code sudo} and {@code su} do not change (proc(5))
 * @param pid the process
 * @param program path of its program
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Actor(
        @Nullable String user,
        @Nullable Long uid,
        @Nullable Long loginUid,
        @Nullable Long pid,
        @Nullable String program) {
    private static final Logger LOG = LoggerFactory.getLogger(Actor.class);
    /** Nobody who is known: the kernel does not tell who called umount(8). */
    public static final Actor NOBODY = new Actor(null, null, null, null, null);

    /** System property with the number of the process that started this one, if that is not the one above. */
    public static final String STARTER = "sdfs.starter";

    /** The login uid of a process that nobody's login began: -1 in 32 bits. */
    private static final long NO_LOGIN = 0xffff_ffffL;

    /**
     * Returns the client at the other end of a Unix socket. The kernel says which user it is (SO_PEERCRED, unix(7)).
     * The process is the client's own statement; it counts only if that process runs as this user.
     *
     * @param statedPid number of the client's process as it states it; null if it does not
     */
    public static Actor of(SocketChannel client, @Nullable Long statedPid) {
        UserPrincipal user;
        try {
            UnixDomainPrincipal peer = client.getOption(ExtendedSocketOptions.SO_PEERCRED);
            user = peer.user();
        } catch (IOException | UnsupportedOperationException e) {
            LOG.debug("the kernel does not name the client", e);
            return NOBODY;
        }
        Actor process = statedPid == null ? NOBODY : ofProcess(statedPid, user);
        return process == NOBODY ? new Actor(user.getName(), null, null, null, null) : process;
    }

    /** Returns who started this process: its user, and the process that {@link #STARTER} names, else the one above. */
    public static Actor ofStarter() {
        return ofOwn(Long.getLong(
                STARTER,
                ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L)));
    }

    /** Returns the user of this process, and the process. */
    public static Actor ofThisProcess() {
        return ofOwn(ProcessHandle.current().pid());
    }

    /** @param pid a process of the user who runs this one */
    private static Actor ofOwn(long pid) {
        try {
            UserPrincipal self = Files.getOwner(Path.of("/proc/self"));
            Actor above = ofProcess(pid, self);
            return above == NOBODY
                    ? new Actor(self.getName(), uid(Path.of("/proc/self")), loginUid(Path.of("/proc/self")), null, null)
                    : above;
        } catch (IOException e) {
            LOG.debug("this process has no owner", e);
            return NOBODY;
        }
    }

    private static Actor ofProcess(long pid, UserPrincipal user) {
        Path process = Path.of("/proc", Long.toString(pid));
        try {
            return Files.getOwner(process).equals(user)
                    ? new Actor(user.getName(), uid(process), loginUid(process), pid, program(process))
                    : NOBODY;
        } catch (IOException e) {
            LOG.debug("there is no process {}", pid, e);
            return NOBODY;
        }
    }

    private static long uid(Path process) throws IOException {
        return Integer.toUnsignedLong((int) Files.getAttribute(process, "unix:uid"));
    }

    private static @Nullable Long loginUid(Path process) {
        try {
            long uid =
                    Long.parseLong(Files.readString(process.resolve("loginuid")).strip());
            return uid == NO_LOGIN ? null : uid;
        } catch (IOException | NumberFormatException e) {
            return null;
        }
    }

    private static @Nullable String program(Path process) {
        try {
            return Files.readSymbolicLink(process.resolve("exe")).toString();
        } catch (IOException e) {
            return null;
        }
    }
}
