package org.opendedup.sar.sdfs.jolokia;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jolokia.server.core.service.api.Restrictor;
import org.jolokia.server.core.util.HttpMethod;
import org.jolokia.server.core.util.RequestType;
import org.opendedup.sar.sdfs.jmx.RecordBean.Effect;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;

/**
 * Lets a role reach the beans of one volume, and nothing else of the process: the JVM's own beans can load code and
 * write files. No role may call an operation that reaches files of the machine.
 */
record VolumeAccess(String volume, Role role, MBeanServer server) implements Restrictor {
    private static final Set<RequestType> LOOKING =
            Set.of(RequestType.READ, RequestType.LIST, RequestType.SEARCH, RequestType.VERSION, RequestType.EXEC);

    private static final Set<RequestType> CHANGING =
            Stream.concat(LOOKING.stream(), Stream.of(RequestType.WRITE)).collect(Collectors.toUnmodifiableSet());

    /** Returns the types of requests that a role may send; which operations it may call is another question. */
    static Set<RequestType> types(Role role) {
        return role == Role.CHANGE ? CHANGING : LOOKING;
    }

    @Override
    public boolean isTypeAllowed(RequestType type) {
        return types(role).contains(type);
    }

    @Override
    public boolean isAttributeReadAllowed(ObjectName name, String attribute) {
        return isOfVolume(name);
    }

    @Override
    public boolean isAttributeWriteAllowed(ObjectName name, String attribute) {
        return role == Role.CHANGE && isOfVolume(name);
    }

    /** @param operation its name; the types of its parameters may follow in brackets */
    @Override
    public boolean isOperationAllowed(ObjectName name, String operation) {
        if (!isOfVolume(name) || name.isPattern()) {
            return false;
        }
        String called = operation.replaceFirst("\\(.*", "");
        try {
            return Arrays.stream(server.getMBeanInfo(name).getOperations())
                    .filter(info -> info.getName().equals(called))
                    .map(VolumeAccess::effect)
                    .anyMatch(effect -> effect == Effect.LOOKS || role == Role.CHANGE && effect == Effect.CHANGES);
        } catch (JMException e) {
            return false;
        }
    }

    private static Effect effect(MBeanOperationInfo operation) {
        return operation.getDescriptor().getFieldValue(Effect.FIELD) instanceof String name
                ? Effect.valueOf(name)
                : Effect.REACHES_THE_MACHINE;
    }

    /** A pattern is of the volume only if it names it, so that all that it matches is. */
    private boolean isOfVolume(ObjectName name) {
        return VolumeRegistration.DOMAIN.equals(name.getDomain()) && volume.equals(name.getKeyProperty("volume"));
    }

    @Override
    public boolean isObjectNameHidden(ObjectName name) {
        return !isOfVolume(name);
    }

    /** Each request comes over the control socket. */
    @Override
    public boolean isHttpMethodAllowed(HttpMethod method) {
        return true;
    }

    @Override
    public boolean isRemoteAccessAllowed(String... hosts) {
        return true;
    }

    @Override
    public boolean isOriginAllowed(String origin, boolean onlyWhenStrict) {
        return false;
    }
}
